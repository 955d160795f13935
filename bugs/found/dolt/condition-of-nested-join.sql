-- title: A join around a join in brackets ignores its condition beside NOT IN
-- class: wrong result
-- oracle: joinequiv
-- on: dolt@1.83.2
-- why: a1.c1 is 0 in every row, so the join has no rows.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t5(c0 INT, c1 INT);
INSERT INTO t5 VALUES (0, 0);
SELECT 0 FROM t5 JOIN (t5 AS a0 LEFT JOIN t5 AS a1 ON 1) ON a1.c1
WHERE NOT a0.c0 IN (SELECT 0 WHERE t5.c0);
-- returns: 0
-- must be: nothing
