-- title: Filtered aggregates over a right join are an internal error
-- class: internal error
-- oracle: crash
-- on: h2@2.5.252
-- why: The join has the two rows of t3, each a group of its own; no aggregate has a row, so all are NULL or 0.
-- second opinion: PostgreSQL 18.6, with conditions in the place of numbers
-- reports: not searched

CREATE TABLE t3(c0 INT PRIMARY KEY);
INSERT INTO t3 VALUES (0), (-1);
CREATE INDEX i0 ON t3(c0);
SELECT CASE WHEN c1 THEN c0 ELSE c0 END, MAX(0) FILTER (WHERE 1), MIN(0) FILTER (WHERE c0 = 0)
FROM (SELECT 0 AS c1) AS a0 RIGHT JOIN t3 ON 0 GROUP BY c0;
-- returns: error: java.lang.ArrayIndexOutOfBoundsException
-- must be: (0, 0, 0), (-1, 0, NULL)
