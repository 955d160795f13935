-- title: NOT <= the smallest BIGINT loses a row of a key
-- class: wrong result
-- oracle: tlp-where
-- on: firebird@5.0.4
-- why: -53 is greater than the smallest BIGINT.
-- second opinion: PostgreSQL 18.6
-- reports: not searched

CREATE TABLE t0(c0 BIGINT PRIMARY KEY);
INSERT INTO t0 VALUES (-53);
SELECT c0 FROM t0 WHERE NOT c0 <= -9223372036854775808 GROUP BY c0;
-- returns: nothing
-- must be: -53
