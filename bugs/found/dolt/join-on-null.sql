-- title: A join on NULL has a row
-- class: wrong result
-- oracle: joinequiv
-- on: dolt@1.83.2
-- why: A join on NULL has no rows.
-- second opinion: MySQL 9.7.4 refuses the query, because c0 is ambiguous to it; a join on NULL has no rows whatever c0 is
-- reports: not searched

CREATE TABLE t3(c0 INT NOT NULL);
CREATE TABLE t4(c0 INT);
INSERT INTO t3 VALUES (0);
INSERT INTO t4 VALUES (1);
SELECT a0.c0 FROM t4 LEFT JOIN t3 USING (c0) JOIN t3 AS a0 ON NULL WHERE a0.c0 OR c0;
-- returns: 0
-- must be: nothing
