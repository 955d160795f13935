-- title: An UPDATE that fails on a key keeps a part of its changes in the transaction
-- class: wrong result
-- oracle: atomic
-- on: turso@0.8.3
-- why: A statement that fails changes nothing.
-- second opinion: SQLite 3.54.1
-- reports: not searched

CREATE TABLE t0(c0 INTEGER PRIMARY KEY);
INSERT INTO t0 VALUES (1), (2);
BEGIN;
UPDATE t0 SET c0 = 0;
-- returns: error
-- must be: error
SELECT c0 FROM t0;
-- returns: 0, 2
-- must be: 1, 2
