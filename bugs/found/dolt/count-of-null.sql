-- title: COUNT(NULL) counts rows
-- class: wrong result
-- oracle: tlp-aggregate
-- on: dolt@1.83.2
-- why: COUNT does not count NULL.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (1);
SELECT COUNT(NULL) FROM t0;
-- returns: 1
-- must be: 0
