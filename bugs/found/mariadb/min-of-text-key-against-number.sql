-- title: MIN of a text key does not find a text that is equal to 0
-- class: wrong result
-- oracle: order
-- on: mariadb@11.8.9
-- since: 10.5, the oldest version that was tried
-- why: The condition compares as numbers, and '' is 0 as a number, so there is one row and MIN is ''. Without MIN the row is found.
-- second opinion: MySQL 9.7.4
-- reports: https://bugs.mysql.com/bug.php?id=70886 is of this kind

CREATE TABLE t0(c0 VARCHAR(20) PRIMARY KEY);
INSERT INTO t0 VALUES ('');
SELECT c0 FROM t0 WHERE c0 = 0;
-- returns: ''
SELECT MIN(c0) FROM t0 WHERE c0 = 0;
-- returns: NULL
-- must be: ''
