-- title: Bytes cannot be a condition
-- class: wrong error
-- oracle: tlp-where
-- on: dolt@1.83.2
-- why: The bytes are '0', which is FALSE.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t1(c0 BLOB);
INSERT INTO t1 VALUES (0);
SELECT 0 FROM t1 WHERE c0;
-- returns: error: unable to cast &val.ByteArray
-- must be: nothing
