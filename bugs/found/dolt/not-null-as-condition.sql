-- title: NOT of a comparison with NULL is TRUE
-- class: wrong result
-- oracle: tlp-where
-- on: dolt@1.83.2
-- why: NULL < 3 is NULL, and so is its negation, so WHERE must drop the row.
-- second opinion: MySQL 9.7.4
-- reports: https://github.com/dolthub/go-mysql-server/pull/3747, which came after this release

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (NULL);
SELECT c0 FROM t0 WHERE NOT c0 < 3;
-- returns: NULL
-- must be: nothing
