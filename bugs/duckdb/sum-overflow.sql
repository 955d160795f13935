-- title: SUM wraps around
-- link: https://github.com/cwida/duckdb/issues/543
-- fails: duckdb@0.1.5
-- fixed: 0.1.7
-- uncaught: the same wrong sum in every arm

CREATE TABLE one(a BIGINT);
INSERT INTO one VALUES (50), (9223372036854775800);
SELECT SUM(a) FROM one WHERE a > 0;
