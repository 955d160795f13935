-- title: A number other than 1 is FALSE as a condition
-- class: wrong result
-- oracle: tlp-where, dml
-- on: dolt@1.83.2
-- why: Every number but 0 is TRUE. It is FALSE only if a query does nothing but read the columns of a table: `SELECT 'a', c0 FROM t0 WHERE
--   c0` is right, and `DELETE FROM t0 WHERE c0` removes the row.
-- second opinion: MySQL 9.7.4
-- reports: https://github.com/dolthub/go-mysql-server/pull/3747, which came after this release

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (2);
SELECT 'a', c0 FROM t0 WHERE c0;
-- returns: ('a', 2)
SELECT c0 FROM t0 WHERE c0;
-- returns: nothing
-- must be: 2
