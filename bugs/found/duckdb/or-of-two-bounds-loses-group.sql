-- title: OR of an inequality and a comparison with a subquery keeps no row
-- class: wrong result
-- oracle: eet
-- on: duckdb@2.0.0
-- since: 2.0.0; 1.5.6 is right
-- why: Both rows of the join have c1 = 0, which is not 1, so both meet the condition: the sum is 2, and the one group stays.
-- second opinion: DuckDB 1.4.0 and 1.5.6
-- reports: not searched

CREATE TABLE t0(c0 INT);
CREATE TABLE t1(c0 INT, c1 INT);
INSERT INTO t0 VALUES (0), (0);
INSERT INTO t1(c0) VALUES (0);
SELECT 0 FROM (SELECT 0) AS a0 JOIN (SELECT 1 AS c0, 0 AS c1 FROM t0) AS a1 ON a1.c0 = 1
WHERE a1.c1 <> 1 OR a1.c1 > (SELECT COUNT(t1.c0) FROM t1 WHERE t1.c1 >= t1.c1) HAVING SUM(1) > 1;
-- returns: nothing
-- must be: 0
