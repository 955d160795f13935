-- title: A common table expression with INTERSECT or EXCEPT is wrong when it is read a second time
-- class: wrong result
-- oracle: tlp-where, identities
-- on: mysql@9.7.4
-- why: A common table expression has the same rows each time it is read: here one, with 2. The second reader gets the rows of both
--   operands, or all of the first. A join of it with itself fails with an error of the storage engine. Hunts met it with an
--   empty intersection of constants that had a row, and with a count over EXCEPT that, EXCEPT itself, was not empty.
-- second opinion: MariaDB 11.8.9 and SQLite 3.54.1; MySQL itself if it is read once
-- reports: https://bugs.mysql.com/bug.php?id=118544 and https://bugs.mysql.com/bug.php?id=119032 are of this kind (INTERSECT of joins has an extra row)

CREATE TABLE a(id INT);
CREATE TABLE b(id INT);
INSERT INTO a VALUES (1), (2);
INSERT INTO b VALUES (2), (3);
WITH d AS (SELECT id FROM a INTERSECT SELECT id FROM b) SELECT id FROM d;
-- returns: 2
WITH d AS (SELECT id FROM a INTERSECT SELECT id FROM b) SELECT id FROM d UNION ALL SELECT id FROM d;
-- returns: 2, 1, 2
-- must be: 2, 2
WITH d AS (SELECT id FROM a INTERSECT SELECT id FROM b) SELECT (SELECT COUNT(*) FROM d), (SELECT COUNT(*) FROM d);
-- returns: (1, 2)
-- must be: (1, 1)
WITH d AS (SELECT id FROM a EXCEPT SELECT id FROM b) SELECT (SELECT COUNT(*) FROM d), (SELECT COUNT(*) FROM d);
-- returns: (1, 2)
-- must be: (1, 1)
WITH d AS (SELECT id FROM a INTERSECT SELECT id FROM b) SELECT d.id FROM d JOIN d AS e ON d.id = e.id;
-- returns: error: from storage engine
-- must be: 2

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
WITH d AS (SELECT 1 AS c0 FROM t0 INTERSECT SELECT 0)
SELECT c0 FROM d WHERE c0 IN (0) UNION ALL SELECT c0 FROM d WHERE NOT c0 IN (0);
-- returns: 1
-- must be: nothing
WITH w0 AS (SELECT 0 FROM t0 EXCEPT SELECT 0) SELECT COUNT(0) FROM w0 EXCEPT SELECT COUNT(0) FROM w0;
-- returns: 0
-- must be: nothing
