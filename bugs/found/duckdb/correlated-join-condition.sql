-- title: A LEFT JOIN on a subquery that only names a column is an internal error
-- class: internal error
-- oracle: eet
-- on: duckdb@2.0.0
-- since: 2.0.0; 1.5.6 answers
-- why: `(SELECT t0.c0)` is t0.c0, and the table is empty: the query has no row.
-- second opinion: DuckDB 1.5.6
-- reports: not searched

CREATE TABLE t0(c0 INT);
SELECT DISTINCT t0.c0 FROM t0 LEFT JOIN t0 AS a0 ON (SELECT t0.c0) IS NOT DISTINCT FROM a0.c0 WHERE 1;
-- returns: error: INTERNAL Error: Projection map references a missing child column
-- must be: nothing
