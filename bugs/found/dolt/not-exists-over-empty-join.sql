-- title: NOT EXISTS over a join on FALSE cannot be planned
-- class: wrong error
-- oracle: tlp-where
-- on: dolt@1.83.2
-- why: The join has no rows.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (1);
SELECT 0 FROM t0 JOIN t0 AS a ON 0 WHERE NOT EXISTS (SELECT 0);
-- returns: error: failed to replan join
-- must be: nothing
