-- title: A recursive query whose start has a NULL of no type ends the process
-- class: crash
-- oracle: crash
-- on: firebird@5.0.4
-- why: t2 is empty, so the query has no row, whatever d0 is.
-- second opinion: none: PostgreSQL takes the NULL for a text
-- reports: not searched

CREATE TABLE t2(c0 INT);
CREATE VIEW v0 AS SELECT NULL AS c0 FROM RDB$DATABASE;
WITH RECURSIVE d0(c0, c1) AS (SELECT 0, c0 FROM v0 UNION ALL SELECT c0 + 1, c0 FROM d0 WHERE c0 < 0)
SELECT 0 FROM t2;
-- returns: crash
-- must be: nothing
