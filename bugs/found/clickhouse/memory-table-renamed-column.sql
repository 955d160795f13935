-- title: A Memory table loses the values of a renamed column
-- class: wrong result
-- oracle: storage
-- on: clickhouse@26.9
-- why: A column keeps its values when it gets another name. With ENGINE = MergeTree it does.
-- second opinion: ClickHouse itself with ENGINE = MergeTree
-- reports: none found

CREATE TABLE s1(c0 Nullable(Int32)) ENGINE = Memory;
INSERT INTO s1 VALUES (7);
ALTER TABLE s1 RENAME COLUMN c0 TO c2;
SELECT c2 FROM s1;
-- returns: NULL
-- must be: 7
