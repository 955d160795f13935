-- title: A join on a UNIQUE column matches 4 with 4.25
-- class: wrong result
-- oracle: joinequiv, norec
-- on: mariadb@11.8.9
-- why: 4 is not 4.25, so the row is padded. The value is rounded for the lookup in the key.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t3(c0 INT PRIMARY KEY, c1 INT UNIQUE);
CREATE TABLE t4(c0 DECIMAL(10, 2));
INSERT INTO t3 VALUES (0, 4);
INSERT INTO t4 VALUES (4.25);
SELECT t3.c0 FROM t3 RIGHT JOIN t4 ON c1 = t4.c0;
-- returns: NULL
SELECT t3.c0 FROM t3 RIGHT JOIN t4 ON c1 = t4.c0 AND t4.c0 = 4.25;
-- returns: 0
-- must be: NULL
