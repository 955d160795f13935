-- title: A hash join on <=> of a decimal and an integer does not find NULL
-- class: wrong result
-- oracle: joinequiv
-- on: mariadb@11.8.9
-- settings: `SET join_cache_level = 8`
-- why: NULL <=> NULL is TRUE, so the second row of t1 meets the row of t2.
-- second opinion: MariaDB itself at the default level 2
-- reports: not searched

CREATE TABLE t1(c2 DECIMAL(10, 2));
CREATE TABLE t2(c0 INT, c1 INT PRIMARY KEY);
INSERT INTO t1 VALUES (0), (NULL);
INSERT INTO t2 VALUES (NULL, 0);
SELECT t2.c1 FROM t1 JOIN t2 ON t1.c2 <=> t2.c0;
-- returns: 0
SET join_cache_level = 8;
SELECT t2.c1 FROM t1 JOIN t2 ON t1.c2 <=> t2.c0;
-- returns: nothing
-- must be: 0
