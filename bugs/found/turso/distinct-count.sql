-- title: DISTINCT over an aggregate without GROUP BY fails
-- class: internal error
-- oracle: crash
-- on: turso@0.8.3
-- why: The table is empty, so the count is 0.
-- second opinion: SQLite 3.54.1
-- reports: not searched

CREATE TABLE t0(c0 INT);
SELECT DISTINCT COUNT(*) FROM t0;
-- returns: error: label
-- must be: 0
