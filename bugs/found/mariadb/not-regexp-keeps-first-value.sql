-- title: A prepared NOT REGEXP uses the value of the first execution
-- class: wrong result
-- oracle: epsc
-- on: mariadb@11.8.9
-- why: NOT REGEXP NULL is NULL, so the second execution must return nothing.
-- second opinion: MySQL 9.7.4; MariaDB itself without PREPARE
-- reports: not searched

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0), (0);
PREPARE q FROM 'SELECT 0 FROM t0 WHERE 0 NOT REGEXP CAST(? AS CHAR)';
SET @v = 0;
EXECUTE q USING @v;
-- returns: nothing
SET @v = NULL;
EXECUTE q USING @v;
-- returns: 0, 0
-- must be: nothing
