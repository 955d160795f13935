-- title: MAX of the key of an empty table has no row
-- class: wrong result
-- oracle: order
-- on: dolt@1.83.2
-- why: An aggregate without GROUP BY has one row; the largest of no rows is NULL. MAX of a column without a key returns it.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t0(c0 INT PRIMARY KEY);
SELECT MAX(c0) FROM t0;
-- returns: nothing
-- must be: NULL
