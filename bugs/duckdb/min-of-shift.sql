-- title: MIN of the smallest integer is NULL
-- link: https://github.com/cwida/duckdb/issues/609
-- fails: duckdb@0.1.5
-- fixed: 0.1.7
-- caught: order

CREATE TABLE one(a BIGINT);
INSERT INTO one VALUES (-9223372036854775807 - 1);
SELECT MIN(a) FROM one;
