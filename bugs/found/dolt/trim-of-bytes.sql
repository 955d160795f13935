-- title: TRIM of bytes panics
-- class: internal error
-- oracle: crash
-- on: dolt@1.83.2
-- why: There is nothing to trim.
-- second opinion: not tried
-- reports: not searched
-- not run again: it takes more than ten minutes to compile

CREATE TABLE t7(c0 VARBINARY(20));
INSERT INTO t7 VALUES (x'ff');
SELECT TRIM(c0) FROM t7;
-- returns: error: nil pointer dereference
-- must be: x'ff'
