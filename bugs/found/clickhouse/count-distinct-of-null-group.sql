-- title: COUNT(DISTINCT) over a group of NULLs counts NULL
-- class: wrong result
-- oracle: valscope
-- on: clickhouse@26.7.3
-- fixed: 26.9.2
-- why: COUNT(DISTINCT) does not count NULL. The setting `optimize_uniq_to_count` turns it into a count of groups.
-- second opinion: PostgreSQL 18.6; ClickHouse itself with `optimize_uniq_to_count = 0`
-- reports: https://github.com/ClickHouse/ClickHouse/issues/116907, closed

CREATE TABLE t1(c1 Nullable(Int64)) ENGINE = Memory;
INSERT INTO t1 VALUES (NULL);
SELECT COUNT(DISTINCT d.c0) FROM (SELECT c1 AS c0 FROM t1 GROUP BY c1) AS d;
-- returns: 1
-- must be: 0
