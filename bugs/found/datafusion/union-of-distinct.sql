-- title: A UNION of a SELECT DISTINCT of two columns with one name is an internal error
-- class: internal error
-- oracle: crash
-- on: datafusion@55.2.0
-- why: The table is empty, so the query has no rows.
-- second opinion: PostgreSQL 18.6, with ON TRUE
-- reports: not searched

CREATE TABLE t0(c0 INT);
SELECT DISTINCT a1.c0, a0.c0 FROM t0 AS a0 JOIN t0 AS a1 UNION SELECT a1.c0, a0.c0 FROM t0 AS a0 JOIN t0 AS a1;
-- returns: error: Physical input schema should be the same as the one converted from logical input schema
-- must be: nothing
