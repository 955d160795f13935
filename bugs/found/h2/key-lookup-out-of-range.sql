-- title: IN with a number that the key's type cannot hold fails
-- class: wrong error
-- oracle: norec, edc
-- on: h2@2.5.252
-- since: 2.1.214, the oldest version that was tried
-- why: No SMALLINT is 53687, so the query has no rows, as with `=` and as without the key.
-- second opinion: PostgreSQL 18.6; H2 itself without the key
-- reports: not searched

CREATE TABLE t2(c0 SMALLINT PRIMARY KEY);
SELECT * FROM t2 WHERE c0 = 53687;
-- returns: nothing
SELECT * FROM t2 WHERE c0 IN (53687, 0);
-- returns: error: Numeric value out of range
-- must be: nothing
