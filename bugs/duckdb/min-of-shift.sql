-- title: MIN of the smallest integer is NULL
-- link: https://github.com/cwida/duckdb/issues/609
-- fails: duckdb@0.3.0
-- uncaught: fixed before 0.3.0, the oldest version that can be obtained

CREATE TABLE one(a BIGINT);
INSERT INTO one VALUES (-9223372036854775808);
SELECT MIN(a) FROM one;
