-- title: With an index, IN over a list with NULL is ignored beside an equality
-- class: wrong result
-- oracle: norec
-- on: duckdb@2.0.0
-- since: 2.0.0; 1.5.6 is right
-- why: No number is 1 and 0. The index scan uses the equality and drops the list.
-- second opinion: DuckDB 1.4.0 and 1.5.6; 2.0.0 without the index, or with `IN (2, 0)`
-- reports: none of this; IN beside IS NOT DISTINCT FROM in an index scan is https://github.com/duckdb/duckdb/issues/25155

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (1), (0);
CREATE INDEX i0 ON t0(c0);
SELECT c0 FROM t0 WHERE c0 = 1 AND c0 IN (2, 0);
-- returns: nothing
SELECT c0 FROM t0 WHERE c0 = 1 AND c0 IN (NULL, 0);
-- returns: 1
-- must be: nothing
