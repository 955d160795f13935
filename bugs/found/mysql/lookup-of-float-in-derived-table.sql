-- title: A lookup in a derived table treats a float as a whole number
-- class: wrong result
-- oracle: valscope
-- on: mysql@9.7.4
-- why: The variance is 0.22, which is not 0, and the average of the marks is 1.75, which is not 2. The select list says so.
-- second opinion: MariaDB returns nothing
-- reports: https://bugs.mysql.com/bug.php?id=120721 is of this kind

CREATE TABLE t6(c0 INT);
INSERT INTO t6 VALUES (0), (1), (0);
SELECT (SELECT VAR_POP(c0) FROM t6) = d.c1 FROM (SELECT DISTINCT 0 AS c1 FROM t6) AS d;
-- returns: 0
SELECT d.c1 FROM (SELECT DISTINCT 0 AS c1 FROM t6) AS d WHERE (SELECT VAR_POP(c0) FROM t6) = d.c1;
-- returns: 0
-- must be: nothing

CREATE TABLE mark(m INT);
INSERT INTO mark VALUES (1), (2), (2), (2);
SELECT AVG(m + 0e0) FROM mark;
-- returns: 1.75
SELECT x.m FROM (SELECT DISTINCT m FROM mark) AS x WHERE (SELECT AVG(m + 0e0) FROM mark) = x.m;
-- returns: 2
-- must be: nothing
