-- title: Partition pruning skips the partition with the row
-- class: wrong result
-- oracle: storage
-- on: clickhouse@26.9
-- settings: the table has `allow_nullable_key = 1`
-- why: NOT c0 IS NULL is FALSE for the row, so it meets the condition.
-- second opinion: ClickHouse itself with `use_partition_pruning = 0`, and for a table without partitions
-- reports: none of this; other functions of a Nullable partition key are https://github.com/ClickHouse/ClickHouse/issues/121133

CREATE TABLE s0(c0 Nullable(String)) ENGINE = MergeTree PARTITION BY c0 ORDER BY tuple()
SETTINGS allow_nullable_key = 1;
INSERT INTO s0 VALUES (NULL);
SELECT * FROM s0 WHERE (NOT c0 IS NULL) IS FALSE SETTINGS use_partition_pruning = 0;
-- returns: NULL
SELECT * FROM s0 WHERE (NOT c0 IS NULL) IS FALSE;
-- returns: nothing
-- must be: NULL
