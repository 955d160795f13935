-- title: A condition on a grouped derived table fails because its column becomes ambiguous
-- class: wrong error
-- oracle: epsc
-- on: mariadb@11.8.9
-- why: In the outer query c0 is the first column of the derived table. The optimizer pushes the condition into the derived table,
--   where c0 may also be the column of t0. With a parameter for 0 the query runs.
-- second opinion: MySQL 9.7.4; MariaDB itself with PREPARE and a parameter
-- reports: not searched

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0), (0);
SELECT 0 FROM (SELECT 1 AS c0, 0 AS c1 FROM t0 GROUP BY 1, c0) AS a WHERE c1 OR 0 >= c0;
-- returns: error: Column 'c0' in ORDER BY is ambiguous
-- must be: nothing
