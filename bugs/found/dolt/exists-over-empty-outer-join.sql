-- title: EXISTS over a LEFT JOIN whose condition is never true keeps no row
-- class: wrong result
-- oracle: eet
-- on: dolt@1.83.2
-- why: A LEFT JOIN keeps the rows of its left side, so the subquery has a row.
-- second opinion: MySQL 9.7
-- reports: not searched

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
SELECT 1 FROM t0 WHERE EXISTS (SELECT 0 FROM t0 LEFT JOIN t0 AS a0 ON 0);
-- returns: nothing
-- must be: 1
