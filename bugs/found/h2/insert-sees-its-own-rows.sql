-- title: A prepared INSERT sees the row that it has just inserted
-- class: wrong result
-- oracle: epsc
-- on: h2@2.5.252
-- since: 2.1.214, the oldest version that was tried
-- why: The subquery counts the rows before the statement, which are none. Without PREPARE it does.
-- second opinion: PostgreSQL 18.6; H2 itself without PREPARE
-- reports: not searched

CREATE TABLE t3(c0 INT);
PREPARE p AS INSERT INTO t3 VALUES (5), ((SELECT COUNT(*) FROM t3));
EXECUTE p;
SELECT c0 FROM t3;
-- returns: 5, 1
-- must be: 5, 0
CREATE TABLE t4(c0 INT);
INSERT INTO t4 VALUES (5), ((SELECT COUNT(*) FROM t4));
SELECT c0 FROM t4;
-- returns: 5, 0
