-- title: TRIM of bytes panics
-- class: internal error
-- oracle: crash
-- on: dolt@1.83.2
-- why: There is nothing to trim.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t7(c0 VARBINARY(20));
INSERT INTO t7 VALUES (x'ff');
SELECT TRIM(c0) FROM t7;
-- returns: error: nil pointer dereference
-- must be: x'ff'
