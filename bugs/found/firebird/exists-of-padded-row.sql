-- title: A padded column is not NULL beside EXISTS over a DISTINCT
-- class: wrong result
-- oracle: valscope
-- on: firebird@5.0.4
-- why: The LEFT JOIN finds no row of t0, so its columns are NULL. EXISTS is TRUE, because t0 has a row.
-- second opinion: PostgreSQL 18.6
-- reports: not searched

CREATE TABLE t0(c0 INT, c1 INT);
INSERT INTO t0 VALUES (0, 0);
CREATE VIEW v0 AS SELECT 0 AS c0 FROM t0;
SELECT DISTINCT c1 FROM v0 LEFT JOIN t0 ON NULL
WHERE EXISTS (SELECT DISTINCT t0.c0 FROM t0 AS a0);
-- returns: 0
-- must be: NULL
