-- title: A LEFT JOIN on IN over an empty subquery joins everything
-- class: wrong result
-- oracle: norec, tlp-where
-- on: mysql@9.7.4
-- why: No row has a c0 other than 0, so the subquery is empty, IN is FALSE, and each of the three rows is padded: three rows.
-- second opinion: MariaDB returns 3
-- reports: none of this; a semijoin inside an outer join was https://bugs.mysql.com/bug.php?id=105637

CREATE TABLE t3(c0 INT, c1 INT);
INSERT INTO t3 VALUES (0, 0), (0, 0), (0, 0);
SELECT COUNT(*) FROM t3 LEFT JOIN t3 AS a ON a.c0 IN (SELECT 0 FROM t3 WHERE c0);
-- returns: 9
-- must be: 3
