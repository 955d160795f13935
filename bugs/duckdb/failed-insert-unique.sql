-- title: An INSERT that violates a UNIQUE index hides the row that was there
-- link: https://github.com/cwida/duckdb/issues/514
-- fails: duckdb@0.1.5
-- fixed: 0.1.7
-- caught: constraints, eet, identities, norec, tlp-where

CREATE TABLE one(a INT);
CREATE UNIQUE INDEX one_a ON one(a);
INSERT INTO one VALUES (4);
INSERT INTO one VALUES (4);
SELECT a FROM one WHERE a = 4;
