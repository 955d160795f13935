-- title: A count of no rows that names a count of no rows around it keeps no row
-- class: wrong result
-- oracle: eet
-- on: tidb@8.5.6
-- since: 7.5.0, the oldest version that was tried
-- why: `a` has one row, with 0, and the subquery counts no rows. Without `WHERE a.c0 = 0`, TiDB returns the row. `1 < ALL (SELECT t0.c0
--   FROM t0 WHERE a.c0 = 0)` loses the row as well, `a.c0 NOT IN …` keeps it.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t0(c0 INT);
SELECT c0 FROM (SELECT COUNT(*) AS c0 FROM t0) AS a WHERE (SELECT COUNT(*) FROM t0 WHERE a.c0 = 0) = 0;
-- returns: nothing
-- must be: 0
