-- title: With an index, HAVING over a comma join loses a group
-- class: wrong result
-- oracle: tlp-having
-- on: mariadb@11.8.9
-- why: 0 is not greater than 0, so the only group stays. An index must not change that.
-- second opinion: MySQL 9.7.4, with and without the index
-- reports: not searched

CREATE TABLE t9(c0 INT, c1 INT);
INSERT INTO t9 VALUES (0, 0);
SELECT t9.c1 FROM t9, t9 AS a GROUP BY t9.c1, a.c0 HAVING NOT a.c0 > t9.c1;
-- returns: 0
CREATE INDEX i9 ON t9(c0);
SELECT t9.c1 FROM t9, t9 AS a GROUP BY t9.c1, a.c0 HAVING NOT a.c0 > t9.c1;
-- returns: nothing
-- must be: 0
