-- title: With an index, a range of bytes and numbers is searched as bytes
-- class: wrong result
-- oracle: edc
-- on: mariadb@11.8.9
-- since: 10.11.18 at the latest
-- why: With a number as a bound, BETWEEN compares numbers, and all three are 0. An index must not change that.
-- second opinion: MySQL 9.7.4 and OceanBase 1.4, with and without an index
-- reports: not searched

CREATE TABLE t2(c0 VARBINARY(20));
INSERT INTO t2 VALUES ('0');
SELECT c0 FROM t2 WHERE c0 BETWEEN 'A' AND 0;
-- returns: x'30'
CREATE INDEX i2 ON t2(c0);
SELECT c0 FROM t2 WHERE c0 BETWEEN 'A' AND 0;
-- returns: nothing
-- must be: x'30'
