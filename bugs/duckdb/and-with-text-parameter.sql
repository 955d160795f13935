-- title: AND of a text and a constant fails once the constant is a parameter
-- link: https://github.com/duckdb/duckdb/issues/18108
-- fails: duckdb@1.1.2
-- fixed: 2.0.0
-- caught: epsc

CREATE TABLE answer(t VARCHAR);
INSERT INTO answer VALUES ('0.7');
SELECT (t AND FALSE) FROM answer;
