-- title: ROLLBACK leaves what an INSERT from a view inserted
-- class: wrong result
-- oracle: atomic
-- on: dolt@1.83.2
-- why: ROLLBACK undoes the INSERT. Without the view nothing is left.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t0(c0 INT);
CREATE VIEW v0 AS SELECT 1 AS c0;
BEGIN;
INSERT INTO t0 SELECT c0 FROM v0;
ROLLBACK;
SELECT c0 FROM t0;
-- returns: 1
-- must be: nothing
