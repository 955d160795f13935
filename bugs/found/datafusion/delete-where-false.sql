-- title: DELETE under a condition that is never TRUE removes every row
-- class: wrong result
-- oracle: dml
-- on: datafusion@55.2.0
-- why: WHERE FALSE selects no row, so nothing may change; a SELECT with the same condition has no row. The planner replaces the
--   condition by an empty input, and no condition means all rows. Conditions that contradict each other are enough.
-- second opinion: PostgreSQL 18.6
-- reports: https://github.com/apache/datafusion/issues/24654

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
SELECT c0 FROM t0 WHERE FALSE;
-- returns: nothing
DELETE FROM t0 WHERE FALSE;
SELECT COUNT(*) FROM t0;
-- returns: 0
-- must be: 1
CREATE TABLE orders(id INT, state TEXT);
INSERT INTO orders VALUES (1, 'open'), (2, 'paid');
DELETE FROM orders WHERE id = 1 AND id = 2;
SELECT COUNT(*) FROM orders;
-- returns: 0
-- must be: 2
CREATE TABLE bills(id INT);
INSERT INTO bills VALUES (1);
DELETE FROM bills WHERE id = NULL;
SELECT COUNT(*) FROM bills;
-- returns: 0
-- must be: 1
