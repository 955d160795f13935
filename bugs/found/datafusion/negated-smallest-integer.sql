-- title: A comparison of a negated column with the smallest integer overflows over no rows
-- class: wrong error
-- oracle: edc
-- on: datafusion@55.2.0
-- why: There is no row whose c0 could overflow. The optimizer moves the minus to the other side, where it does.
-- second opinion: PostgreSQL 18.6 counts 0
-- reports: not searched

CREATE TABLE t0(c0 BIGINT);
SELECT COUNT(*) FROM t0 WHERE -c0 = -9223372036854775808;
-- returns: error: Overflow happened on: - -9223372036854775808
-- must be: 0
