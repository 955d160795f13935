-- title: The index of a UNIQUE column changes a comparison with a number that is no date
-- class: wrong result
-- oracle: constraints
-- on: mysql@9.7.4
-- why: As a number, the value is 20000101010203, which is greater than 300; a constraint that the rows satisfy must not change
--   the answer.
-- second opinion: MySQL itself if c1 is not UNIQUE
-- reports: not searched
-- arguable: The comparison mixes a date and a number. But an index must not change it.

CREATE TABLE t0(c0 INT, c1 DATETIME);
INSERT INTO t0 VALUES (1, TIMESTAMP '2000-01-01 01:02:03');
SELECT 0 FROM t0 WHERE c0 AND c1 >= 300;
-- returns: 0
CREATE TABLE t1(c0 INT, c1 DATETIME UNIQUE);
INSERT INTO t1 VALUES (1, TIMESTAMP '2000-01-01 01:02:03');
SELECT 0 FROM t1 WHERE c0 AND c1 >= 300;
-- returns: nothing
-- must be: 0
