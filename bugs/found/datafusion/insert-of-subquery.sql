-- title: INSERT of a subquery among VALUES is an internal error
-- class: internal error
-- oracle: crash
-- on: datafusion@55.2.0
-- why: The subquery is 0, and that can be inserted.
-- second opinion: PostgreSQL 18.6
-- reports: not searched

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES ((SELECT 0));
-- returns: error: ScalarSubqueryExpr evaluated before the subquery was executed
-- must be: 1
