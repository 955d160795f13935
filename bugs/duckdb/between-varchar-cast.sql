-- title: BETWEEN with a bound that is cast to text
-- link: https://github.com/cwida/duckdb/issues/584
-- fails: duckdb@0.3.0
-- uncaught: fixed before 0.3.0, the oldest version that can be obtained

CREATE TABLE one(a INTEGER);
INSERT INTO one VALUES (-4);
SELECT a FROM one WHERE '-3' BETWEEN a::VARCHAR AND '3';
