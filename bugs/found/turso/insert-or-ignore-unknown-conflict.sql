-- title: INSERT OR IGNORE takes an upsert on a column that is no key and sets one that does not exist
-- class: wrong error
-- oracle: identities
-- on: turso@0.8.3
-- why: c0 has no UNIQUE constraint, and there is no c1: the statement is not valid, but the row is inserted.
-- second opinion: SQLite 3.54.1 refuses it
-- reports: none of this; that the same statement ignores its DO UPDATE is https://github.com/tursodatabase/turso/issues/8732

CREATE TABLE t0(c0);
INSERT OR IGNORE INTO t0 VALUES (0) ON CONFLICT (c0) DO UPDATE SET c1 = 0;
-- returns: ok
-- must be: error
SELECT c0 FROM t0;
-- returns: 0
-- must be: nothing
