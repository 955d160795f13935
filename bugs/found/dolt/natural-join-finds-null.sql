-- title: A natural join finds NULL in a key
-- class: wrong result
-- oracle: joinequiv
-- on: dolt@1.83.2
-- why: NULL is not equal to NULL, so the row with it has no partner. The outer joins are right.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t2(c0 INT, c1 INT, c2 VARBINARY(20) PRIMARY KEY, UNIQUE (c1, c2));
INSERT INTO t2 VALUES (5, NULL, x'41'), (3, 7, x'61');
SELECT t2.c0 FROM t2 NATURAL JOIN t2 AS a0;
-- returns: 3, 5
-- must be: 3
