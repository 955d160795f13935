-- title: DISTINCT over a window function drops an outer join whose rows the function counts
-- class: wrong result
-- oracle: identities
-- on: tidb@8.5.6
-- since: 8.5; 7.5.0 is right
-- why: The optimizer drops the outer join, because no column of t1 is used and DISTINCT removes duplicates. But the sum is computed
--   before, over both rows: 4. Without DISTINCT, TiDB returns 4 twice.
-- second opinion: TiDB 7.5.0 and MySQL 9.7
-- reports: none found

CREATE TABLE t0(c0 INT);
CREATE TABLE t1(c0 INT);
INSERT INTO t0 VALUES (1);
INSERT INTO t1 VALUES (1), (2);
SELECT DISTINCT SUM(c0 + 1) OVER (PARTITION BY c0) FROM (SELECT t0.c0 FROM t0 LEFT JOIN t1 ON TRUE) AS a;
-- returns: 2
-- must be: 4
