-- title: MIN of a column that was added to a WITHOUT ROWID table misses the rows that were there before
-- class: wrong result
-- oracle: crash
-- on: sqlite@3.54.1
-- why: Both rows meet the condition, and the smaller value is 5, the default of the first row. If the column has no
--   default and the list has a value of another type before the key, the query even says that the file is damaged,
--   though `PRAGMA integrity_check` finds nothing.
-- second opinion: SQLite itself, for `SELECT p FROM t WHERE a IN (1, 2)`
-- reports: none found

CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID;
INSERT INTO t VALUES (1);
ALTER TABLE t ADD COLUMN p DEFAULT 5;
INSERT INTO t VALUES (2, 9);
SELECT p FROM t WHERE a IN (1, 2);
-- returns: 5, 9
SELECT MIN(p) FROM t WHERE a IN (1, 2);
-- returns: 9
-- must be: 5

CREATE TABLE t0(c0 PRIMARY KEY) WITHOUT ROWID;
INSERT INTO t0 VALUES (x'');
ALTER TABLE t0 ADD COLUMN c1;
SELECT MIN(c1) FROM t0 WHERE c0 IN (0, x'');
-- returns: error: database disk image is malformed
-- must be: NULL
PRAGMA integrity_check;
-- returns: 'ok'
