-- title: A window count over a derived table joined by an inequality returns no row
-- class: wrong result
-- oracle: eet
-- on: mariadb@11.8.9
-- why: -34 is less than 0: there is one pair, and so one row with a count of 1.
-- second opinion: MySQL 9.7.4; MariaDB itself with `(SELECT c0) AS c0` in the derived table
-- reports: not searched

CREATE TABLE t0(c0 INT PRIMARY KEY);
INSERT INTO t0 VALUES (0), (-34);
SELECT a0.c0 FROM (SELECT c0 FROM t0) AS a0 JOIN t0 ON a0.c0 < t0.c0;
-- returns: -34
SELECT COUNT(a0.c0) OVER () FROM (SELECT c0 FROM t0) AS a0 JOIN t0 ON a0.c0 < t0.c0;
-- returns: nothing
-- must be: 1
SELECT COUNT(a0.c0) OVER (ORDER BY a0.c0) FROM (SELECT c0 FROM t0) AS a0 JOIN t0 ON a0.c0 < t0.c0;
-- returns: nothing
-- must be: 1
