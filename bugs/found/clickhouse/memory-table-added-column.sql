-- title: A Memory table loses the default of an added column
-- class: wrong result
-- oracle: storage
-- on: clickhouse@26.9
-- why: The column that was added has the default 3, also in rows that were there before. With ENGINE = MergeTree it does.
-- second opinion: ClickHouse itself with ENGINE = MergeTree
-- reports: none found

CREATE TABLE s0(c0 Int32) ENGINE = Memory;
INSERT INTO s0 VALUES (0);
ALTER TABLE s0 ADD COLUMN c1 Int32 DEFAULT 3;
SELECT * FROM s0;
-- returns: (0, 0)
-- must be: (0, 3)
