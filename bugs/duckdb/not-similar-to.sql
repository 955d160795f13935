-- title: NOT SIMILAR TO of a number and a pattern
-- link: https://github.com/cwida/duckdb/issues/510
-- fails: duckdb@0.1.5
-- fixed: 0.1.7
-- uncaught: the same wrong answer in every arm

CREATE TABLE one(a VARCHAR);
INSERT INTO one VALUES ('-20');
SELECT a FROM one WHERE a NOT SIMILAR TO '0';
