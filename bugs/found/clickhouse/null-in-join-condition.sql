-- title: NULL in the condition of an inner join counts as TRUE
-- class: wrong result
-- oracle: joinequiv
-- on: clickhouse@26.7.3
-- fixed: 26.9.2
-- why: NULL = 1 is NULL, so no pair meets the condition. The left join is right; the right join is wrong as well.
-- second opinion: PostgreSQL 18.6
-- reports: https://github.com/ClickHouse/ClickHouse/issues/111820, closed

SELECT a.x FROM (SELECT 1 AS x) AS a JOIN (SELECT 1 AS x) AS b
ON a.x = b.x AND CAST(NULL AS Nullable(Int32)) = 1;
-- returns: 1
-- must be: nothing
