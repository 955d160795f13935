-- title: JSON_DEPTH of an empty text is NULL, but IS NULL of it is FALSE
-- class: wrong result
-- oracle: epsc
-- on: mariadb@11.8.9
-- why: JSON_DEPTH('') is NULL, so DELETE must remove the row. It does with a parameter for the text.
-- second opinion: MariaDB itself with a parameter
-- reports: not searched

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
SELECT JSON_DEPTH('');
-- returns: NULL
SELECT JSON_DEPTH('') IS NULL;
-- returns: 0
-- must be: 1
DELETE FROM t0 WHERE JSON_DEPTH('') IS NULL;
SELECT COUNT(*) FROM t0;
-- returns: 1
-- must be: 0
