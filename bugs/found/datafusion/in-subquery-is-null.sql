-- title: IN over a subquery is never NULL in WHERE
-- class: wrong result
-- oracle: tlp-where
-- on: datafusion@55.2.0
-- why: NULL IN a list that is not empty is NULL, so the row stays. With `IN (0)` it does.
-- second opinion: SQLite 3.54.1
-- reports: none of this; NOT IN with NULL is https://github.com/apache/datafusion/issues/25340 and https://github.com/apache/datafusion/issues/25347

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (NULL);
SELECT c0 FROM t0 WHERE (c0 IN (0)) IS NULL;
-- returns: NULL
SELECT c0 FROM t0 WHERE (c0 IN (SELECT 0)) IS NULL;
-- returns: nothing
-- must be: NULL
