-- title: A comparison with a fraction on a UNIQUE NUMERIC column omits rows
-- link: https://github.com/duckdb/duckdb/issues/495
-- fails: duckdb@0.1.5
-- uncaught: no release fails: mended between two of them

CREATE TABLE price(p NUMERIC UNIQUE);
INSERT INTO price VALUES (900000001), (0), (70000);
SELECT p FROM price WHERE 0.5 < p;
