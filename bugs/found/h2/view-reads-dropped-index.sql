-- title: A view goes on reading an index that was dropped
-- class: wrong result
-- oracle: index, norec
-- on: h2@2.5.252
-- since: 2.1.214, the oldest version that was tried
-- why: The table has a row that the view over it lacks. EXPLAIN shows that the view still reads the index that was dropped; what was
--   inserted since is not in it.
-- second opinion: PostgreSQL 18.6; H2 itself for a query over the table
-- reports: none found

CREATE TABLE t1(c0 VARCHAR);
CREATE VIEW v1 AS SELECT c0 FROM t1;
CREATE INDEX i1 ON t1(c0);
SELECT c0 FROM v1;
-- returns: nothing
INSERT INTO t1 VALUES ('a');
DROP INDEX i1;
SELECT c0 FROM t1;
-- returns: 'a'
SELECT c0 FROM v1;
-- returns: nothing
-- must be: 'a'
