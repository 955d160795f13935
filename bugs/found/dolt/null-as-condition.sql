-- title: A condition that is NULL panics
-- class: internal error
-- oracle: tlp-where
-- on: dolt@1.83.2
-- why: WHERE drops a row whose condition is NULL.
-- second opinion: MySQL 9.7.4
-- reports: https://github.com/dolthub/go-mysql-server/pull/3747, which came after this release

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (NULL);
SELECT c0 FROM t0 WHERE c0;
-- returns: error: index out of range [0] with length 0
-- must be: nothing
SELECT c0 FROM t0 WHERE 0 IN (NULL);
-- returns: error: index out of range [0] with length 0
-- must be: nothing
