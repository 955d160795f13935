-- title: BETWEEN with a bound that is cast to text
-- link: https://github.com/cwida/duckdb/issues/584
-- fails: duckdb@0.1.5
-- uncaught: no release fails: mended between two of them

CREATE TABLE one(a INTEGER);
INSERT INTO one VALUES (-4);
SELECT a FROM one WHERE '-3' BETWEEN a::VARCHAR AND '3';
