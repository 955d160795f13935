-- title: A condition on INTERVAL of a constant column keeps no row
-- class: wrong result
-- oracle: epsc
-- on: mariadb@11.8.9
-- why: INTERVAL(0, 1) is 0, because 0 is less than 1, so the row stays. It does with a parameter for the 0.
-- second opinion: MySQL 9.7.4
-- reports: not searched

SELECT INTERVAL(0, c0) <> 1 FROM (SELECT 1 AS c0) AS a;
-- returns: 1
SELECT 0 FROM (SELECT 1 AS c0) AS a WHERE INTERVAL(0, c0) <> 1;
-- returns: nothing
-- must be: 0
