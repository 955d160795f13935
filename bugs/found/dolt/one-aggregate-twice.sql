-- title: An aggregate that is listed twice is not found
-- class: wrong error
-- oracle: edc, valscope
-- on: dolt@1.83.2
-- why: The query is valid, and NULL over no rows. `SELECT AVG(t0.c0), MAX(t0.c0)` is accepted.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t0(c0 INT);
SELECT AVG(t0.c0), AVG(t0.c0) FROM t0;
-- returns: error: does not exist in scope
-- must be: (NULL, NULL)
