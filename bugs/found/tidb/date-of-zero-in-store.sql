-- title: DATE(0) is a zero date in a DISTINCT and NULL in a GROUP BY
-- class: wrong result
-- oracle: identities
-- on: tidb@8.5.6
-- since: 7.5.0, the oldest version that was tried
-- settings: the server's own store (unistore), which TiDB's clusters do not have
-- why: With NO_ZERO_DATE, 0 is no date. The first query computes it in the store, which does not know the mode.
-- second opinion: MySQL 9.7 and MariaDB 11.8 return NULL for both
-- reports: not searched
-- arguable: Clusters have another store, TiKV, and may be right.

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
SELECT DATE(c0) FROM t0 GROUP BY DATE(c0);
-- returns: NULL
SELECT DISTINCT DATE(c0) FROM t0;
-- returns: 0000-00-00
-- must be: NULL
