-- title: A quantified comparison that is FALSE keeps its row
-- class: wrong result
-- oracle: valscope
-- on: mariadb@11.8.9
-- why: 1 is not less than 0, so no row is left, and HAVING drops the one group.
-- second opinion: MySQL 9.7.4 returns nothing
-- reports: not searched

CREATE TABLE t6(c0 INT);
INSERT INTO t6 VALUES (1);
SELECT (SELECT MAX(1) WHERE 1) <= ANY (SELECT 0 WHERE c0) FROM t6;
-- returns: 1
-- must be: 0
SELECT SUM(0) FROM t6 WHERE (SELECT MAX(1) WHERE 1) <= ANY (SELECT 0 WHERE c0) HAVING SUM(1) > 0;
-- returns: 0
-- must be: nothing
