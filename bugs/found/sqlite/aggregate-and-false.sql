-- title: An aggregate AND 0 returns no row
-- class: wrong result
-- oracle: epsc
-- on: sqlite@3.50.0
-- since: 3.34.0 at the latest
-- fixed: 3.50.4
-- why: A query with an aggregate and without GROUP BY has one row. NULL AND 0 is 0. With a parameter in the place of 0 the row
--   is there.
-- second opinion: SQLite 3.50.4 and 3.54.1
-- reports: not searched

CREATE TABLE t0(c0);
SELECT max(c0) AND 0 FROM t0;
-- returns: nothing
-- must be: 0
