-- title: Joining a view over a join with its tables is an internal error
-- class: internal error
-- oracle: crash
-- on: clickhouse@26.7.3
-- fixed: 26.9.2
-- why: The tables are empty, so the count is 0.
-- second opinion: PostgreSQL 18.6
-- reports: https://github.com/ClickHouse/ClickHouse/issues/114113, closed

CREATE TABLE t0(c0 INT, c1 Int16) ENGINE = MergeTree ORDER BY tuple();
CREATE VIEW v0 AS SELECT a0.c0 AS c0 FROM t0 JOIN t0 AS a0 USING (c0);
SELECT COUNT(v0.c0) FROM v0, t0, (SELECT 0 AS c0) AS a1;
-- returns: error: same names
-- must be: 0
