-- title: MIN and MAX of an unsigned key are wrong under a condition with a negative number
-- class: wrong result
-- oracle: eet, tlp-where, storage
-- on: mariadb@11.8.9
-- why: 0 is greater than -1, so MIN is 0; and 0 is not -1, so MAX of no rows is NULL. The negative number is converted for the lookup in the
--   key. (A hunt first met the second form with ST_ISSIMPLE(NULL), which is -1.)
-- second opinion: MySQL 9.7.4; MariaDB itself without the key, or with the condition inside a CASE
-- reports: not searched

CREATE TABLE t0(c0 BIGINT UNSIGNED);
INSERT INTO t0 VALUES (0);
SELECT MIN(c0) FROM t0 WHERE -1 < c0;
-- returns: 0
CREATE INDEX i0 ON t0(c0);
SELECT MIN(c0) FROM t0 WHERE -1 < c0;
-- returns: NULL
-- must be: 0
CREATE TABLE t10(c0 INT UNSIGNED PRIMARY KEY);
INSERT INTO t10 VALUES (0);
SELECT c0 FROM t10 WHERE NOT c0 <= -1;
-- returns: 0
SELECT COUNT(*), MIN(c0) FROM t10 WHERE NOT c0 <= -1;
-- returns: (0, NULL)
-- must be: (1, 0)
SELECT COUNT(*) FROM t10 WHERE c0 = -1;
-- returns: 0
SELECT MAX(c0) FROM t10 WHERE c0 = -1;
-- returns: 0
-- must be: NULL
SELECT MAX(c0) FROM t10 WHERE c0 = ST_ISSIMPLE(NULL);
-- returns: 0
-- must be: NULL
