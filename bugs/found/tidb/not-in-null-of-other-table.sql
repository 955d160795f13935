-- title: NOT IN over a NULL of another table keeps a row where it is NULL
-- class: wrong result
-- oracle: eet
-- on: tidb@8.5.6
-- since: 7.5.0, the oldest version that was tried
-- why: `0 NOT IN` a list with NULL is NULL, so no row counts. Without the condition on t0, TiDB returns 0.
-- second opinion: MySQL 9.7.4
-- reports: none found

CREATE TABLE t0(c0 INT);
CREATE TABLE t1(c0 INT);
INSERT INTO t0 VALUES (1);
INSERT INTO t1 VALUES (7);
SELECT COUNT(*) FROM t0 WHERE 0 NOT IN (SELECT NULL FROM t1);
-- returns: 0
SELECT COUNT(*) FROM t0 WHERE 0 NOT IN (SELECT NULL FROM t1 WHERE t1.c0 > t0.c0);
-- returns: 1
-- must be: 0
