-- title: AES_ENCRYPT in a recursive query is an internal error
-- class: internal error
-- oracle: crash
-- on: tidb@8.5.6
-- since: 7.5.0, the oldest version that was tried
-- why: The value is never NULL, so the recursion counts to 3.
-- second opinion: MySQL 9.7; TiDB itself with `tidb_enable_vectorized_expression = 0`
-- reports: none of this; the same panic of AES_DECRYPT was https://github.com/pingcap/tidb/issues/43076 and fixed

WITH RECURSIVE d AS (SELECT 1 AS c0 UNION ALL SELECT c0 + 1 FROM d WHERE c0 < 3 AND AES_ENCRYPT(c0, 'k') IS NOT NULL) SELECT c0 FROM d;
-- returns: error: index out of range [1] with length 1
-- must be: 1, 2, 3
