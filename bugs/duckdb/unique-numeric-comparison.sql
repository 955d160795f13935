-- title: A comparison with a fraction on a UNIQUE NUMERIC column omits rows
-- link: https://github.com/duckdb/duckdb/issues/495
-- fails: duckdb@0.3.0
-- uncaught: fixed before 0.3.0, the oldest version that can be obtained

CREATE TABLE price(p NUMERIC UNIQUE);
INSERT INTO price VALUES (900000001), (0), (70000);
SELECT p FROM price WHERE 0.5 < p;
