-- title: SUM wraps around
-- link: https://github.com/cwida/duckdb/issues/543
-- fails: duckdb@0.3.0
-- uncaught: fixed before 0.3.0, the oldest version that can be obtained

CREATE TABLE one(a BIGINT);
INSERT INTO one VALUES (5), (9223372036854775800);
SELECT SUM(a) FROM one WHERE a > 0;
