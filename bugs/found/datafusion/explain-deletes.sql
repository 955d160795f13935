-- title: EXPLAIN of a DELETE removes the rows
-- class: wrong result
-- oracle: dml
-- on: datafusion@55.2.0
-- why: EXPLAIN without ANALYZE only shows a plan. The table changes while the plan is made.
-- second opinion: PostgreSQL 18.6
-- reports: https://github.com/apache/datafusion/issues/24656

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
EXPLAIN DELETE FROM t0 WHERE c0 = 0;
SELECT COUNT(*) FROM t0;
-- returns: 0
-- must be: 1
