-- title: MIN and MAX of a key convert the constant that they look up
-- class: wrong result
-- oracle: order, eet, tlp-where, storage
-- on: mariadb@11.8.9
-- since: 10.5, the oldest version that was tried
-- why: No integer is 6.5, no unsigned number is -1, and MAX of no rows is NULL; -1 is less than 0, and '' is 0 as a number, so MIN
--   is there. MariaDB rounds or converts the constant to the type of the key and looks that up. (A hunt first met the
--   unsigned key with ST_ISSIMPLE(NULL), which is -1.) Without MIN and MAX the queries are right.
-- second opinion: MySQL 9.7.4, PostgreSQL and SQLite; MariaDB itself without the key, and for a MEMORY table
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

CREATE TABLE stock(pieces INT UNSIGNED PRIMARY KEY);
INSERT INTO stock VALUES (0);
SELECT MIN(pieces) FROM stock WHERE -1 < pieces;
-- returns: NULL
-- must be: 0
SELECT COUNT(*), MIN(pieces) FROM stock WHERE NOT pieces <= -1;
-- returns: (0, NULL)
-- must be: (1, 0)
SELECT COUNT(*) FROM stock WHERE pieces = -1;
-- returns: 0
SELECT MAX(pieces) FROM stock WHERE pieces = -1;
-- returns: 0
-- must be: NULL
SELECT MAX(pieces) FROM stock WHERE pieces = -9.2e18;
-- returns: 0
-- must be: NULL
SELECT MAX(pieces) FROM stock WHERE pieces = ST_ISSIMPLE(NULL);
-- returns: 0
-- must be: NULL

CREATE TABLE note(words VARCHAR(20) PRIMARY KEY);
INSERT INTO note VALUES ('');
SELECT words FROM note WHERE words = 0;
-- returns: ''
SELECT MIN(words) FROM note WHERE words = 0;
-- returns: NULL
-- must be: ''
