-- title: A join on a count that is compared with NULL ends the server
-- class: crash
-- oracle: crash
-- on: dolt@1.83.2
-- why: Nothing is equal to NULL, so the query has no rows.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t3(c0 INT);
CREATE TABLE t4(c0 VARCHAR(20) PRIMARY KEY);
CREATE INDEX i3 ON t3(c0);
INSERT INTO t3 VALUES (-2), (-609), (NULL), (1), (2);
INSERT INTO t4 VALUES ('127'), ('2'), ('b');
ANALYZE TABLE t4;
SELECT t3.c0 FROM (SELECT COUNT(*) AS c0 FROM t4) AS d0 JOIN t3 ON d0.c0 = t3.c0 WHERE d0.c0 = NULL GROUP BY t3.c0;
-- returns: crash
-- must be: nothing
