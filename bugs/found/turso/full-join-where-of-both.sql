-- title: WHERE keeps a row of a FULL JOIN that has no partner
-- class: wrong result
-- oracle: norec, tlp-where
-- on: turso@0.8.3
-- why: t1 is empty, so t1.c0 is NULL in the only row, and the condition is not TRUE.
-- second opinion: SQLite 3.54.1
-- reports: https://github.com/tursodatabase/turso/issues/8202 is of this kind

CREATE TABLE t0(c0);
CREATE TABLE t1(c0);
INSERT INTO t0 VALUES (0);
SELECT COUNT(*) FROM t0 FULL JOIN t1 WHERE t0.c0 = t1.c0;
-- returns: 1
-- must be: 0
