-- title: HAVING MIN IN a subquery loses its group
-- class: wrong result
-- oracle: edc
-- on: mariadb@10.11.18
-- fixed: 11.8.9
-- why: The smallest c1 is 0, and 0 is in the list, so the one group stays.
-- second opinion: MariaDB 11.8.6 and MySQL
-- reports: not searched

CREATE TABLE t0(c0 INT, c1 INT);
INSERT INTO t0 VALUES (0, 0), (0, 0);
SELECT 0 FROM t0 GROUP BY c0 HAVING MIN(c1) IN (SELECT 0 FROM t0);
-- returns: nothing
-- must be: 0
