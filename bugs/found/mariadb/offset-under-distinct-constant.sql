-- title: OFFSET does not count under DISTINCT of a constant
-- class: wrong result
-- oracle: order
-- on: mariadb@11.8.9
-- since: 10.5, the oldest version that was tried
-- why: DISTINCT leaves one row, and OFFSET 1 skips it.
-- second opinion: MySQL, PostgreSQL and SQLite return nothing
-- reports: not searched

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0), (0);
SELECT DISTINCT 1 FROM t0 ORDER BY 1 LIMIT 1 OFFSET 1;
-- returns: 1
-- must be: nothing
