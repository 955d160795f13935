-- title: MIN of a column that was added to a WITHOUT ROWID table finds the database malformed
-- link: bugs/sqlite.md
-- fails: sqlite@3.54.1
-- caught: crash
-- newest: crash

CREATE TABLE depot(box PRIMARY KEY) WITHOUT ROWID;
INSERT INTO depot VALUES (x'');
ALTER TABLE depot ADD COLUMN weight;
SELECT MIN(weight) FROM depot WHERE box IN (3, x'');
