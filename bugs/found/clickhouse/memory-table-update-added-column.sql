-- title: An added column of a Memory table cannot be updated
-- class: internal error
-- oracle: storage
-- on: clickhouse@26.9
-- settings: `SET mutations_sync = 1`, to see the error
-- why: The column is there, and no row meets the condition. With ENGINE = MergeTree the statement runs.
-- second opinion: ClickHouse itself with ENGINE = MergeTree
-- reports: not searched

SET mutations_sync = 1;
CREATE TABLE s0(c0 Int32) ENGINE = Memory;
INSERT INTO s0 VALUES (0);
ALTER TABLE s0 ADD COLUMN c1 Int32 DEFAULT 3;
ALTER TABLE s0 UPDATE c1 = 0 WHERE 0;
-- returns: error: Not found column c1 in block
-- must be: ok
