-- title: A JSON path '*' from a column is an internal error
-- class: internal error
-- oracle: edc, valscope
-- on: duckdb@2.0.0
-- since: 2.0.0
-- why: The path is not valid for a number, and DuckDB 1.5.6 returns NULL. The error also invalidates the database: no
--   statement runs any more. As a constant the same path returns an empty list.
-- second opinion: DuckDB 1.5.6
-- reports: none found

CREATE TABLE t0(c0 TEXT);
INSERT INTO t0 VALUES ('*');
SELECT json_extract(CAST(0 AS JSON), c0) FROM t0;
-- returns: error: INTERNAL Error: Invalid JSON path element encountered
-- must be: NULL
