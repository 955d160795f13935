-- title: IN over a grouped view loses rows of a join with that view
-- class: wrong result
-- oracle: joinequiv, norec
-- on: mariadb@11.8.9
-- why: The view has two rows, 0 and 1, both in the list, and each is joined with both rows of t0.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t0(c0 INT, c2 INT PRIMARY KEY);
CREATE INDEX i0 ON t0(c0);
INSERT INTO t0 VALUES (0, 0), (1, 1);
CREATE VIEW v0 AS SELECT COUNT(*), t0.c0 AS c1 FROM t0 GROUP BY t0.c0;
SELECT t0.c2 FROM t0 RIGHT JOIN v0 ON 1;
-- returns: 0, 0, 1, 1
SELECT t0.c2 FROM t0 RIGHT JOIN v0 ON 1 WHERE c1 IN (SELECT c1 FROM v0);
-- returns: 0, 1
-- must be: 0, 0, 1, 1
