-- title: A recursive common table that is read by two subqueries panics
-- class: crash
-- oracle: crash
-- on: turso@0.8.3
-- why: Of 1, 2 and 3, no, one and two numbers are smaller.
-- second opinion: SQLite 3.54.1
-- reports: not searched

WITH RECURSIVE d0(c0) AS (SELECT 1 UNION ALL SELECT d0.c0 + 1 FROM d0 WHERE d0.c0 < 3)
SELECT (SELECT COUNT(*) FROM (SELECT c0 FROM d0) AS s WHERE s.c0 < p.c0) FROM (SELECT c0 FROM d0) AS p;
-- returns: crash
-- must be: 0, 1, 2
