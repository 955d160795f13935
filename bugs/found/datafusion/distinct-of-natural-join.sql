-- title: DISTINCT over a column of a natural join and its twin is an internal error
-- class: internal error
-- oracle: crash
-- on: datafusion@55.2.0
-- why: The table is empty, so the query has no rows. It is the same error where a query over `ifnull(NULL, NULL)` is prepared.
-- second opinion: PostgreSQL 18.6
-- reports: not searched

CREATE TABLE t0(c0 INT);
SELECT DISTINCT a0.c0, c0 FROM t0 NATURAL JOIN t0 AS a0;
-- returns: error: Failed due to a difference in schemas
-- must be: nothing
PREPARE p0 AS SELECT c0 FROM (SELECT ifnull(NULL, NULL) AS c0) AS d;
-- returns: error: Failed due to a difference in schemas
-- must be: ok
