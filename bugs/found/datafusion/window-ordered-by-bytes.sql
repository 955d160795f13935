-- title: A window that is ordered by bytes is an internal error
-- class: internal error
-- oracle: crash
-- on: datafusion@55.2.0
-- why: The table is empty, so the query has no rows. ORDER BY of the query takes the same column.
-- second opinion: PostgreSQL 18.6
-- reports: not searched

CREATE TABLE t1(c0 BYTEA);
SELECT COUNT(0) OVER (PARTITION BY 0 ORDER BY c0) FROM t1;
-- returns: error: Cannot run range queries on datatype: Binary
-- must be: nothing
