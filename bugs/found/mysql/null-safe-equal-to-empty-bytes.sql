-- title: With an index, a number that is <=> empty bytes is not found
-- class: wrong result
-- oracle: norec, tlp-where
-- on: mysql@9.7.4
-- why: The select list says that 0 <=> x'' is TRUE, and so WHERE must keep the row. Neither the condition nor its negation does.
-- second opinion: MariaDB, whose query with the condition keeps the row; MySQL itself without the index
-- reports: not searched

CREATE TABLE t2(c0 INT);
INSERT INTO t2 VALUES (0);
SELECT c0 <=> x'' FROM t2;
-- returns: 1
SELECT c0 FROM t2 WHERE c0 <=> x'';
-- returns: 0
CREATE INDEX i0 ON t2(c0);
SELECT c0 FROM t2 WHERE c0 <=> x'';
-- returns: nothing
-- must be: 0
SELECT c0 FROM t2 WHERE NOT c0 <=> x'';
-- returns: nothing
