-- title: The second execution of a prepared statement fails with "Mixing of GROUP columns"
-- class: wrong error
-- oracle: epsc
-- on: mariadb@11.8.9
-- settings: `SET sql_mode = 'ONLY_FULL_GROUP_BY'`
-- why: The first execution is right: the query has no rows, and the aggregate is alone in its subquery.
-- second opinion: MySQL 9.7.4; MariaDB itself, the first time and without PREPARE
-- reports: not searched

CREATE TABLE t0(c0 INT);
CREATE VIEW v0 AS SELECT c0 AS c1 FROM t0;
CREATE VIEW v1 AS SELECT 0;
SET sql_mode = 'ONLY_FULL_GROUP_BY';
PREPARE p FROM 'SELECT 0 FROM (SELECT 0 AS c0 FROM v1 WHERE 0) AS a0 LEFT JOIN v0 ON ? WHERE (SELECT SUM(c1) FROM v0 AS a1 WHERE c1)';
SET @a = 0;
EXECUTE p USING @a;
-- returns: nothing
EXECUTE p USING @a;
-- returns: error: Mixing of GROUP columns
-- must be: nothing
