-- title: NOT SIMILAR TO of a number and a pattern
-- link: https://github.com/cwida/duckdb/issues/510
-- fails: duckdb@0.3.0
-- uncaught: fixed before 0.3.0, the oldest version that can be obtained

CREATE TABLE one(a VARCHAR);
INSERT INTO one VALUES ('-20');
SELECT a FROM one WHERE a NOT SIMILAR TO '0';
