-- title: A CAST of bytes to a text is NULL in the select list and fails in WHERE
-- class: wrong error
-- oracle: tlp-where
-- on: tidb@8.5.6
-- settings: the server's own store (unistore), which TiDB's clusters do not have
-- why: The CAST is NULL with a warning, so WHERE must keep the row. 7.5.0 refuses both queries.
-- second opinion: MySQL 9.7 returns the row
-- reports: not searched
-- arguable: Clusters have another store, TiKV, and may be right.

CREATE TABLE t0(c0 VARBINARY(20));
INSERT INTO t0 VALUES (x'fffe');
SELECT CAST(c0 AS CHAR) IS NULL FROM t0;
-- returns: 1
SELECT 0 FROM t0 WHERE CAST(c0 AS CHAR) IS NULL;
-- returns: error: Cannot convert string
-- must be: 0
