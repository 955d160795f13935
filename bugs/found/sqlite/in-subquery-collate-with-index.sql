-- title: IN over a subquery ignores COLLATE if the column has an index
-- class: wrong result
-- oracle: tlp-where
-- on: sqlite@3.54.1
-- since: 3.8.6, the oldest version that was tried
-- why: `x IN (SELECT y …)` is compared as `x = y`, so the explicit COLLATE of `y` counts, as the documentation of datatypes says
--   ("Comparison expressions", 7.1). The condition is TRUE, and it is in the select list. With the index of the key,
--   which has the collation BINARY, neither the condition nor its negation keeps the row.
-- second opinion: SQLite itself without the key, and with the condition in the select list
-- reports: not searched

CREATE TABLE t0(c0 PRIMARY KEY);
INSERT INTO t0 VALUES ('fig');
SELECT c0 IN (SELECT 'Fig' COLLATE NOCASE) FROM t0;
-- returns: 1
SELECT COUNT(*) FROM t0 WHERE c0 IN (SELECT 'Fig' COLLATE NOCASE);
-- returns: 0
-- must be: 1
SELECT COUNT(*) FROM t0 WHERE NOT c0 IN (SELECT 'Fig' COLLATE NOCASE);
-- returns: 0

CREATE TABLE fruit(name TEXT);
CREATE TABLE wanted(name TEXT);
INSERT INTO fruit VALUES ('fig'), ('pear');
INSERT INTO wanted VALUES ('Fig'), ('Apple');
SELECT name FROM fruit WHERE name IN (SELECT name COLLATE NOCASE FROM wanted);
-- returns: 'fig'
CREATE INDEX by_name ON fruit(name);
SELECT name FROM fruit WHERE name IN (SELECT name COLLATE NOCASE FROM wanted);
-- returns: nothing
-- must be: 'fig'
