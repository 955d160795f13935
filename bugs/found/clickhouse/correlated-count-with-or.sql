-- title: A correlated count is NULL for a row whose column is NULL
-- class: wrong result
-- oracle: eet
-- on: clickhouse@26.9
-- why: For the row with NULL, the condition is TRUE for the row of t0 that is 1, so the count is 1. A count is never NULL.
-- second opinion: PostgreSQL 18.6, DuckDB 2.0.0
-- reports: not searched

CREATE TABLE t0(c0 Nullable(Int32)) ENGINE = Memory;
INSERT INTO t0 VALUES (NULL), (1);
SELECT a.c0, (SELECT COUNT(*) FROM t0 WHERE t0.c0 = 1 OR a.c0 = 1) FROM t0 AS a;
-- returns: (NULL, NULL), (1, 2)
-- must be: (NULL, 1), (1, 2)
