-- title: NOT (NULL OR TRUE) is TRUE
-- link: https://github.com/cwida/duckdb/issues/489
-- fails: duckdb@0.3.0
-- uncaught: fixed before 0.3.0, the oldest version that can be obtained

CREATE TABLE one(a INT);
INSERT INTO one VALUES (4);
SELECT a FROM one WHERE NOT (NULL OR TRUE);
