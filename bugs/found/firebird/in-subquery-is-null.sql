-- title: IN over a subquery is never NULL in WHERE
-- class: wrong result
-- oracle: tlp-where
-- on: firebird@5.0.4
-- why: NULL IN a list that is not empty is NULL, so the row stays.
-- second opinion: PostgreSQL 18.6
-- reports: none of this; NOT IN of a list with NULL was https://github.com/FirebirdSQL/firebird/issues/7795

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
SELECT 1 FROM RDB$DATABASE WHERE (NULL IN (SELECT 0 FROM t0)) IS NULL;
-- returns: nothing
-- must be: 1
