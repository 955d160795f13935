-- title: With an index, NOT IN over a subquery finds 1.25 in a list of 1
-- class: wrong result
-- oracle: constraints
-- on: mariadb@11.8.9
-- why: 1.25 is not 1, so NOT IN is TRUE and the row counts. The value is rounded for the lookup in the index of an INT column.
-- second opinion: MariaDB itself without the index, or if t0.c0 is NOT NULL and UNIQUE
-- reports: none found

CREATE TABLE t0(c0 REAL);
CREATE TABLE t1(c1 INT, c0 INT);
INSERT INTO t0 VALUES (1.25);
INSERT INTO t1 VALUES (1, 1);
SELECT COUNT(*) FROM t0 WHERE c0 NOT IN (SELECT c1 FROM t1 WHERE c0);
-- returns: 1
CREATE INDEX i0 ON t1(c1);
SELECT COUNT(*) FROM t0 WHERE c0 NOT IN (SELECT c1 FROM t1 WHERE c0);
-- returns: 0
-- must be: 1
