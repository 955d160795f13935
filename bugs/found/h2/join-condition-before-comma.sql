-- title: A derived table whose join condition names a table before the comma is an internal error
-- class: internal error
-- oracle: crash
-- on: h2@2.5.252
-- why: The table is empty, so the query has no rows. (PostgreSQL refuses the name, which is not in the scope of ON; an ordinary
--   error would do as well.)
-- second opinion: H2 itself for the inner query
-- reports: not searched
-- arguable: By the standard the name is not in scope, so an error is right; an internal error is not.

CREATE TABLE t1(c0 INT, c1 INT);
SELECT 1 FROM (SELECT t1.c1 FROM t1, t1 AS a1 LEFT JOIN t1 AS a2 ON t1.c0 = 1) AS d;
-- returns: error: java.lang.NullPointerException
-- must be: nothing
