-- title: A common table expression WITH ROLLUP that is not read is an internal error
-- class: internal error
-- oracle: crash
-- on: tidb@8.5.6
-- since: 7.5.0, the oldest version that was tried
-- why: The table is empty, so the query has no rows. It also fails with a subquery in FROM in the place of the common table.
-- second opinion: MySQL 9.7.4
-- reports: none of this; a similar panic, by EXISTS in HAVING, was https://github.com/pingcap/tidb/issues/66165 and fixed

CREATE TABLE t0(c0 INT);
WITH d AS (SELECT c0 FROM t0 GROUP BY c0 WITH ROLLUP) SELECT c0 FROM t0 WHERE c0 IN (SELECT c0 FROM t0);
-- returns: error: invalid memory address or nil pointer dereference
-- must be: nothing
