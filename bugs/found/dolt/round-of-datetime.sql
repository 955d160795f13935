-- title: ROUND of a DATETIME panics
-- class: internal error
-- oracle: crash
-- on: dolt@1.83.2
-- why: As a number, the value is 20200101000000.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t6(c0 DATETIME);
INSERT INTO t6 VALUES ('2020-01-01');
SELECT ROUND(c0) FROM t6;
-- returns: error: interface {} is nil
-- must be: 20200101000000
