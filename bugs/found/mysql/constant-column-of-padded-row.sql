-- title: A padded row satisfies a condition on a constant column
-- class: wrong result
-- oracle: norec, tlp-where
-- on: mysql@9.7.4
-- why: The outer join finds no row, so a.c0 is NULL, and WHERE must drop the row. MySQL puts the constant in the place of the
--   column.
-- second opinion: MariaDB returns 0
-- reports: none of this; older forms were https://bugs.mysql.com/bug.php?id=76327 and https://bugs.mysql.com/bug.php?id=85192

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
SELECT a.c0 FROM t0 LEFT JOIN (SELECT -1 AS c0 FROM t0) AS a ON 0;
-- returns: NULL
SELECT COUNT(*) FROM t0 LEFT JOIN (SELECT -1 AS c0 FROM t0) AS a ON 0 WHERE a.c0;
-- returns: 1
-- must be: 0
