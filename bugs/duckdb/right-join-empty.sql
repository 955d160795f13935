-- title: A RIGHT JOIN with an empty table on the right has rows
-- link: https://github.com/cwida/duckdb/issues/505
-- fails: duckdb@0.1.5
-- fixed: 0.1.7
-- caught: eet, identities, joinequiv, valscope

CREATE TABLE full_one(a INT NOT NULL);
CREATE TABLE empty_one(b BOOLEAN);
INSERT INTO full_one VALUES (4);
SELECT a, b FROM full_one RIGHT JOIN empty_one ON TRUE;
