-- title: A computed date that is NULL is <=> a value that is no date
-- class: wrong result
-- oracle: edc
-- on: oceanbase@1.4.0
-- settings: `SET sql_mode = 'NO_ZERO_DATE'`
-- why: There is no day 0 in a year, so MAKEDATE is NULL, which is not 0; the same value in a column is not <=> 0. It is the same with CONVERT_TZ
--   between time zones that do not exist and a text.
-- second opinion: MySQL 9.7.4 and MariaDB 11.8.9; OceanBase itself for the stored value
-- reports: not searched
-- arguable: 0 and a text that is no date become NULL where they are compared as dates. But then the stored value must be equal to them, too.

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
CREATE TABLE t1(c0 DATE);
INSERT INTO t1 SELECT MAKEDATE(c0, c0) FROM t0;
SET sql_mode = 'NO_ZERO_DATE';
SELECT c0 <=> 0 FROM t1;
-- returns: 0
SELECT MAKEDATE(c0, c0) <=> 0 FROM t0;
-- returns: 1
-- must be: 0
CREATE TABLE t2(c0 DATETIME);
INSERT INTO t2 VALUES ('2020-01-01');
SELECT CONVERT_TZ(c0, '', '') FROM t2;
-- returns: NULL
SELECT CONVERT_TZ(c0, '', '') <=> '_b' FROM t2;
-- returns: 1
-- must be: 0
