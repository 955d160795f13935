-- title: A comparison with a subquery over a group that HAVING removes is an internal error
-- class: internal error
-- oracle: eet
-- on: duckdb@2.0.0
-- since: 2.0.0; 1.5.6 answers
-- why: HAVING removes the only group of the derived table, so the query has no row.
-- second opinion: DuckDB 1.5.6
-- reports: not searched

SELECT 0 FROM (SELECT NULL, SUM(NULL) AS c0 GROUP BY 1 HAVING AVG(NULL) >= 0) AS a0 WHERE (SELECT 0) >= c0 ORDER BY 1 LIMIT 1;
-- returns: error: INTERNAL Error: Failed to bind column reference
-- must be: nothing
