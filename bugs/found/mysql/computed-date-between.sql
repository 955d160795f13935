-- title: A computed date is BETWEEN a number and a date otherwise than the same date in a column
-- class: wrong result
-- oracle: edc
-- on: mysql@9.7.4
-- why: The value of the operation is the value of the column, so both queries must return the same. MySQL converts the bounds for
--   a column, and not for an operation. It is the same with ADDDATE, SUBDATE and LAST_DAY.
-- second opinion: MySQL itself for the stored value
-- reports: figure 5 of the paper on EDC is of this kind
-- arguable: Which of the two is right depends on how a date is compared with a number; that they differ does not.

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
CREATE TABLE t1 AS SELECT MAKEDATE(c0 + 2000, 1) AS c0 FROM t0;
SELECT c0 FROM t1 WHERE c0 BETWEEN 0 AND '2000-01-02';
-- returns: 2000-01-01
SELECT MAKEDATE(c0 + 2000, 1) FROM t0 WHERE MAKEDATE(c0 + 2000, 1) BETWEEN 0 AND '2000-01-02';
-- returns: nothing
-- must be: 2000-01-01
