-- title: Empty bytes that are equal and unequal by a prefix index end the connection
-- class: crash
-- oracle: crash
-- on: dolt@1.83.2
-- why: The table is empty, so the query has no rows.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t5(c0 BLOB);
CREATE INDEX i5 ON t5(c0(5));
SELECT 1 FROM (SELECT c0 FROM t5 WHERE c0 = x'') AS d1 WHERE d1.c0 <> x'';
-- returns: crash
-- must be: nothing
