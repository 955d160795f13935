-- title: NOT IN over a correlated subquery keeps a row twice
-- class: wrong result
-- oracle: tlp-where
-- on: tidb@8.5.6
-- since: 7.5.0, the oldest version that was tried
-- why: WHERE keeps a row once or not at all.
-- second opinion: MySQL 9.7.4
-- reports: https://github.com/pingcap/tidb/issues/60866

CREATE TABLE t0(c0 INT);
CREATE TABLE t1(c0 INT);
INSERT INTO t0 VALUES (1);
INSERT INTO t1 VALUES (2), (3);
SELECT c0 FROM t0 WHERE 9 NOT IN (SELECT t1.c0 FROM t1 WHERE t0.c0 = 5);
-- returns: 1, 1
-- must be: 1
