-- title: A comparison with the largest of no rows is TRUE over a derived aggregate
-- class: wrong result
-- oracle: materialise
-- on: datafusion@55.2.0
-- why: The largest of no rows is NULL, and nothing is equal to it. Over a table with the row of the derived table the result
--   is right.
-- second opinion: SQLite 3.54.1
-- reports: none found

CREATE TABLE t0(c0 INT);
SELECT 0 FROM (SELECT MIN(0)) AS d WHERE 0 = (SELECT MAX(0) FROM t0);
-- returns: 0
-- must be: nothing
