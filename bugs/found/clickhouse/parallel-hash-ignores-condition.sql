-- title: An inner join ignores its condition if it is about only one table
-- class: wrong result
-- oracle: plan
-- on: clickhouse@26.7.3
-- fixed: 26.9.2
-- settings: `join_algorithm = 'parallel_hash'`
-- why: 0 is not greater than 0, so there is no pair.
-- second opinion: PostgreSQL 18.6; ClickHouse itself with `join_algorithm = 'hash'`
-- reports: https://github.com/ClickHouse/ClickHouse/issues/110814, closed

CREATE TABLE t0(c0 Int32) ENGINE = Memory;
INSERT INTO t0 VALUES (0);
SELECT a.c0, b.c0 FROM t0 AS a JOIN t0 AS b ON b.c0 > 0 SETTINGS join_algorithm = 'hash';
-- returns: nothing
SELECT a.c0, b.c0 FROM t0 AS a JOIN t0 AS b ON b.c0 > 0 SETTINGS join_algorithm = 'parallel_hash';
-- returns: (0, 0)
-- must be: nothing
