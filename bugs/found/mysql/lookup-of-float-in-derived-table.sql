-- title: A lookup in a derived table treats a float as a whole number
-- class: wrong result
-- oracle: valscope
-- on: mysql@9.7.4
-- why: The variance is 0.22, which is not 0. The select list says so.
-- second opinion: MariaDB returns nothing
-- reports: https://bugs.mysql.com/bug.php?id=120721 is of this kind

CREATE TABLE t6(c0 INT);
INSERT INTO t6 VALUES (0), (1), (0);
SELECT (SELECT VAR_POP(c0) FROM t6) = d.c1 FROM (SELECT DISTINCT 0 AS c1 FROM t6) AS d;
-- returns: 0
SELECT d.c1 FROM (SELECT DISTINCT 0 AS c1 FROM t6) AS d WHERE (SELECT VAR_POP(c0) FROM t6) = d.c1;
-- returns: 0
-- must be: nothing
