-- title: MIN and MAX of a key return a value that WHERE excludes
-- class: wrong result
-- oracle: order
-- on: mariadb@11.8.9
-- since: 10.5, the oldest version that was tried
-- why: No integer is 6.5, and MAX of no rows is NULL. The constant is rounded for the lookup in the key. `c0 = '9007199254740993'`
--   finds 2147483647 in the same way, and `c0 = -9.2e18` the 0 of an UNSIGNED column. Without MAX the queries are right.
-- second opinion: MySQL, PostgreSQL and SQLite return NULL
-- reports: https://bugs.mysql.com/bug.php?id=70886 is of this kind

CREATE TABLE t0(c0 INT PRIMARY KEY);
INSERT INTO t0 VALUES (7), (2147483647);
SELECT c0 FROM t0 WHERE c0 = 6.5;
-- returns: nothing
SELECT MAX(c0) FROM t0 WHERE c0 = 6.5;
-- returns: 7
-- must be: NULL
SELECT MAX(c0) FROM t0 WHERE c0 = '9007199254740993';
-- returns: 2147483647
-- must be: NULL
