-- title: NULLIF of an integer and a float is TRUE and NULL at the same time
-- class: wrong result
-- oracle: norec, tlp-where
-- on: mysql@9.7.4
-- why: -1 is not 0, so NULLIF is -1 and not NULL.
-- second opinion: MariaDB returns nothing; MySQL itself for NULLIF in the select list
-- reports: not searched

CREATE TABLE t1(c0 REAL);
INSERT INTO t1 VALUES (0);
SELECT NULLIF(-1, c0) FROM t1;
-- returns: -1
SELECT c0 FROM t1 WHERE NULLIF(-1, c0);
-- returns: 0.0
SELECT c0 FROM t1 WHERE NULLIF(-1, c0) IS NULL;
-- returns: 0.0
-- must be: nothing
