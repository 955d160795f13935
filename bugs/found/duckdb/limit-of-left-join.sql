-- title: LIMIT 1 returns two rows
-- class: wrong result
-- oracle: order
-- on: duckdb@2.0.0
-- why: A query with LIMIT 1 has one row at most.
-- second opinion: DuckDB 1.5.6 returns one row
-- reports: none found

CREATE TABLE t0(c0 INT, c1 INT);
CREATE TABLE t1(c2 TEXT);
INSERT INTO t1 VALUES (''), ('');
SELECT 1 FROM (SELECT * FROM t1) AS a0 LEFT JOIN t0 ON c0 WHERE c1 OR c2 <= '' ORDER BY 1 LIMIT 1;
-- returns: 1, 1
-- must be: 1
