-- title: A common table expression with INTERSECT has an extra row if it is read twice
-- class: wrong result
-- oracle: tlp-where
-- on: mysql@9.7.4
-- why: 1 is not 0, so the intersection is empty.
-- second opinion: MariaDB returns nothing; MySQL itself if it is read once
-- reports: https://bugs.mysql.com/bug.php?id=118544 and https://bugs.mysql.com/bug.php?id=119032 are of this kind (INTERSECT of joins has an extra row)

CREATE TABLE t0(c1 INT);
INSERT INTO t0 VALUES (0);
WITH d AS (SELECT 1 AS c0 FROM t0 INTERSECT SELECT 0)
SELECT c0 FROM d WHERE NOT c0 IN (0);
-- returns: nothing
WITH d AS (SELECT 1 AS c0 FROM t0 INTERSECT SELECT 0)
SELECT c0 FROM d WHERE c0 IN (0) UNION ALL SELECT c0 FROM d WHERE NOT c0 IN (0);
-- returns: 1
-- must be: nothing
