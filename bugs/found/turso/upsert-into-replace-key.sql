-- title: An upsert into a key with ON CONFLICT REPLACE panics if there is an index
-- class: crash
-- oracle: crash
-- on: turso@0.8.3
-- why: The upsert sets c1 of the row with this key to 5.
-- second opinion: SQLite 3.54.1
-- reports: not searched

CREATE TABLE t1(c0 INTEGER PRIMARY KEY ON CONFLICT REPLACE, c1 INT);
CREATE INDEX i1 ON t1(c1);
INSERT INTO t1 VALUES (1, 1);
INSERT INTO t1 VALUES (1, 2) ON CONFLICT (c0) DO UPDATE SET c1 = 5;
-- returns: crash
-- must be: ok
