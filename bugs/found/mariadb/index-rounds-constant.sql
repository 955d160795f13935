-- title: With an index, an integer column is equal to a fraction
-- class: wrong result
-- oracle: edc, dml
-- on: mariadb@11.8.9
-- since: 10.5, the oldest version that was tried
-- why: No integer is 0.5 or 1.5. The constant is rounded for the lookup in the index, also in IN. A DELETE with the condition that finds 2
--   removes nothing.
-- second opinion: MySQL 9.7.4 and OceanBase 1.4, with and without an index
-- reports: none found of MariaDB; the same in MySQL 9 with LEAST is https://bugs.mysql.com/bug.php?id=120801

CREATE TABLE t1(c0 BIGINT);
INSERT INTO t1 VALUES (1);
SELECT c0 FROM t1 WHERE c0 = 0.5;
-- returns: nothing
CREATE INDEX i1 ON t1(c0);
SELECT c0 FROM t1 WHERE c0 = 0.5;
-- returns: 1
-- must be: nothing
SELECT c0 FROM t1 WHERE c0 IN (0.5);
-- returns: 1
-- must be: nothing
CREATE TABLE price(cents INT, KEY (cents));
INSERT INTO price VALUES (1), (2), (3);
SELECT cents FROM price WHERE cents = 1.5;
-- returns: 2
-- must be: nothing
