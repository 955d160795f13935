-- title: EXCEPT ALL of EXCEPT ALL of joins has no row
-- class: wrong result
-- oracle: joinequiv
-- on: dolt@1.83.2
-- why: All three joins have one row, the empty bytes. The inner EXCEPT ALL removes it, and the outer one removes nothing.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t8(c0 VARBINARY(20) NOT NULL);
INSERT INTO t8 VALUES (x'');
SELECT a0.c0 FROM t8 LEFT JOIN t8 AS a0 ON 1 EXCEPT ALL (SELECT a0.c0 FROM t8 LEFT JOIN t8 AS a0 ON 1
EXCEPT ALL SELECT a0.c0 FROM t8 RIGHT JOIN t8 AS a0 ON 1);
-- returns: nothing
-- must be: x''
