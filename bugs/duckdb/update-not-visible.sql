-- title: An updated value of a text column is not seen
-- link: https://github.com/cwida/duckdb/issues/579
-- fails: duckdb@0.1.5
-- uncaught: no release fails: mended between two of them

CREATE TABLE one(a VARCHAR, b VARCHAR);
INSERT INTO one(a) VALUES ('5'), ('');
UPDATE one SET b = '7';
SELECT b FROM one WHERE '' = a;
