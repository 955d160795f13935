-- title: WHERE NULL keeps a row of a FULL JOIN
-- class: wrong result
-- oracle: versions
-- on: turso@0.8.3
-- why: WHERE keeps a row only if its condition is TRUE.
-- second opinion: SQLite 3.40.1 and 3.54.1 return nothing
-- reports: https://github.com/tursodatabase/turso/issues/8220 is of this kind

CREATE TABLE t0(c0);
CREATE TABLE t1(c1);
INSERT INTO t1 VALUES (0);
SELECT 0 FROM t0 JOIN t1 ON c0 IS t1.c1 FULL JOIN t1 AS a0 WHERE NULL;
-- returns: 0
-- must be: nothing
