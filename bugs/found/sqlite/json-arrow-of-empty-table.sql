-- title: A query over an empty table fails with "malformed JSON"
-- class: wrong error
-- oracle: tlp-where
-- on: sqlite@3.54.1
-- since: 3.40.1 at the latest
-- why: The table has no row for which `c0 ->> 0` is computed. The first condition says that c0 is '', so SQLite puts '' in the
--   place of c0, and computes the second condition as a constant before it looks for rows.
-- second opinion: SQLite itself without the first condition
-- reports: not searched
-- arguable: SQLite may compute a constant once and early, and does not promise that no error comes of it.

CREATE TABLE t1(c0 INT);
SELECT 1 FROM t1 WHERE (c0 ->> 0);
-- returns: nothing
SELECT 1 FROM t1 WHERE '' = c0 AND (c0 ->> 0);
-- returns: error: malformed JSON
-- must be: nothing
