-- title: A column of the outer query inside an EXISTS within an EXISTS is an internal error
-- class: internal error
-- oracle: crash
-- on: clickhouse@26.7.3
-- fixed: 26.9.2
-- why: The table is empty, so the query has no rows. 26.9.2 says that it does not support such a query.
-- second opinion: PostgreSQL 18.6
-- reports: https://github.com/ClickHouse/ClickHouse/issues/112398, closed

CREATE TABLE t0(c0 INT) ENGINE = MergeTree ORDER BY tuple();
SELECT 1 FROM t0 WHERE EXISTS (SELECT 0 WHERE EXISTS (SELECT c0)) GROUP BY 1;
-- returns: error: Not found column
-- must be: nothing
