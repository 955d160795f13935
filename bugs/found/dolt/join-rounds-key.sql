-- title: A join rounds the value that it looks up in a key
-- class: wrong result
-- oracle: joinequiv
-- on: dolt@1.83.2
-- why: 1.5 is not 2 and 4.5 is not 5. The outer joins are right.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t1(c1 INT PRIMARY KEY);
CREATE TABLE t0(c2 DECIMAL(10, 2));
INSERT INTO t1 VALUES (1), (2), (5);
INSERT INTO t0 VALUES (1.5), (4.5), (1);
SELECT t1.c1, t0.c2 FROM t1 JOIN t0 ON t1.c1 = t0.c2;
-- returns: (1, 1), (2, 1.5), (5, 4.5)
-- must be: (1, 1)
