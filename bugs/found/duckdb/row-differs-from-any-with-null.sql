-- title: WHERE keeps a row where (a, b) <> ANY of a row with NULL is unknown
-- class: wrong result
-- oracle: norec, tlp-where
-- on: duckdb@2.0.0
-- since: 2.0.0; 1.5.6 is right
-- why: 1 does not differ from 1, and whether 2 differs from NULL is not known, so the condition is NULL. As a value it is NULL
--   on 2.0.0, too; as a condition it keeps the row.
-- second opinion: DuckDB 1.5.6
-- reports: none of this form found; duckdb/duckdb#24320 is about NOT IN

CREATE TABLE pair(x INT, y INT);
INSERT INTO pair VALUES (1, NULL);
CREATE TABLE one(a INT, b INT);
INSERT INTO one VALUES (1, 2);
SELECT (a, b) <> ANY (SELECT x, y FROM pair) FROM one;
-- returns: NULL
SELECT a, b FROM one WHERE (a, b) <> ANY (SELECT x, y FROM pair);
-- returns: (1, 2)
-- must be: nothing
