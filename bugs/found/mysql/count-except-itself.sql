-- title: A count over EXCEPT in a common table expression, EXCEPT itself, has a row
-- class: wrong result
-- oracle: identities
-- on: mysql@9.7.4
-- why: A query EXCEPT itself has no rows. `w0` is empty, and both operands count 0.
-- second opinion: SQLite 3.54.1 returns no row
-- reports: none of this; EXCEPT inside a subquery is https://bugs.mysql.com/bug.php?id=118312

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
WITH w0 AS (SELECT 0 FROM t0 EXCEPT SELECT 0) SELECT COUNT(0) FROM w0;
-- returns: 0
WITH w0 AS (SELECT 0 FROM t0 EXCEPT SELECT 0) SELECT COUNT(0) FROM w0 EXCEPT SELECT COUNT(0) FROM w0;
-- returns: 0
-- must be: nothing
