-- title: An updated value of a text column is not seen
-- link: https://github.com/cwida/duckdb/issues/579
-- fails: duckdb@0.3.0
-- uncaught: fixed before 0.3.0, the oldest version that can be obtained

CREATE TABLE one(a VARCHAR, b VARCHAR);
INSERT INTO one(a) VALUES ('5'), ('');
UPDATE one SET b = '7';
SELECT b FROM one WHERE '' = a;
