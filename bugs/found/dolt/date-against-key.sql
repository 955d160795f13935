-- title: A join of a date of a view with an integer key finds 0
-- class: wrong result
-- oracle: joinequiv
-- on: dolt@1.83.2
-- why: The date is 19700101 as a number, which is neither 0 nor 1.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t6(c0 DATE);
CREATE TABLE t7(c1 INT NOT NULL);
CREATE INDEX i0 ON t7(c1);
INSERT INTO t6 VALUES ('1970-01-01');
INSERT INTO t7 VALUES (0), (1);
CREATE VIEW v0 AS SELECT c0 AS c2 FROM t6;
SELECT t7.c1 FROM t7 JOIN v0 ON c1 = c2;
-- returns: 0
-- must be: nothing
