-- title: A BIT changes its representation in CASE and COALESCE
-- class: wrong result
-- oracle: edc
-- on: mysql@9.7.4
-- why: COALESCE returns one of its values as it is, and CREATE TABLE says that this is a number. But the query sends the bytes of the digit
--   '1'. It is the same with CASE; MariaDB does it with NULLIF.
-- second opinion: MySQL itself, for the value in a column
-- reports: figure 4 of the paper on EDC is of this kind
-- arguable: The manual says that a BIT is bytes or a number by what is around it.

CREATE TABLE t0(c0 BIT(1));
INSERT INTO t0 VALUES (1);
CREATE TABLE t1 AS SELECT COALESCE(c0, c0) AS c0 FROM t0;
SELECT c0 FROM t1;
-- returns: 1
SELECT COALESCE(c0, c0) FROM t0;
-- returns: x'31'
-- must be: 1
