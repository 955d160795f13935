-- title: DISTINCT loses the grand total of WITH ROLLUP
-- class: wrong result
-- oracle: identities
-- on: mariadb@11.8.9
-- why: In the row of the grand total c0 is NULL, and so is `c0 = 0`: another value than 1.
-- second opinion: MySQL 9.7.4; MariaDB itself without DISTINCT
-- reports: none found

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
SELECT c0 = 0 FROM t0 GROUP BY c0 WITH ROLLUP;
-- returns: 1, NULL
SELECT DISTINCT c0 = 0 FROM t0 GROUP BY c0 WITH ROLLUP;
-- returns: 1
-- must be: 1, NULL
