-- title: An index hash join on two collations does not pad with blanks
-- class: wrong result
-- oracle: eet
-- on: tidb@8.5.6
-- since: 7.5.0, the oldest version that was tried
-- why: Both collations pad with blanks, so `c0 = c1` is TRUE. With INL_JOIN, HASH_JOIN or no hint, TiDB returns 1. The hint is ours: the
--   hunt met a table large enough for this join.
-- second opinion: MySQL 9.7; TiDB itself with other joins
-- reports: not searched

CREATE TABLE t0(c0 VARCHAR(9) COLLATE utf8mb4_bin, c1 VARCHAR(9) COLLATE utf8mb4_unicode_ci);
CREATE INDEX i0 ON t0(c0);
INSERT INTO t0 VALUES ('B', 'B ');
SELECT /*+ HASH_JOIN(t0) */ COUNT(*) FROM t0 JOIN t0 AS v ON t0.c0 = v.c0 AND t0.c1 = v.c0;
-- returns: 1
SELECT /*+ INL_HASH_JOIN(t0) */ COUNT(*) FROM t0 JOIN t0 AS v ON t0.c0 = v.c0 AND t0.c1 = v.c0;
-- returns: 0
-- must be: 1
