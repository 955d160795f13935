-- title: A FULL JOIN has more rows with WHERE than without it
-- class: wrong result
-- oracle: norec, tlp-where
-- on: turso@0.8.3
-- why: The join has six rows, and all of them meet the condition.
-- second opinion: SQLite 3.54.1
-- reports: https://github.com/tursodatabase/turso/issues/8228 is of this kind

CREATE TABLE t0(c0, c1);
INSERT INTO t0(c0) VALUES (0);
INSERT INTO t0 VALUES (0, 1);
SELECT COUNT(*) FROM t0 JOIN t0 AS a0 FULL JOIN t0 AS a1 ON a0.c1;
-- returns: 6
SELECT COUNT(*) FROM t0 JOIN t0 AS a0 FULL JOIN t0 AS a1 ON a0.c1 WHERE a0.c0 = 0;
-- returns: 8
-- must be: 6
