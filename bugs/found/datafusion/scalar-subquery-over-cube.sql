-- title: A comparison with an aggregate in a subquery is TRUE over GROUP BY CUBE
-- class: wrong result
-- oracle: materialise
-- on: datafusion@55.2.0
-- why: The subquery is 1, which is not less than 0. Over a table with the rows of the derived table the result is right.
-- second opinion: PostgreSQL 18.6 for the second query; it has no CUBE of a constant
-- reports: none found

SELECT 0 FROM (SELECT 0 GROUP BY CUBE (0)) AS d WHERE (SELECT SUM(1)) <= 0;
-- returns: 0
-- must be: nothing
SELECT 0 FROM (SELECT 0 FROM (SELECT 1 AS x) AS t GROUP BY CUBE (x)) AS d WHERE (SELECT SUM(1)) <= 0;
-- returns: 0
-- must be: nothing
