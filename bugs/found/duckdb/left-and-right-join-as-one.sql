-- title: A left and a right outer join are taken for one plan
-- class: wrong result
-- oracle: joinequiv
-- on: duckdb@2.0.0
-- since: 1.5; 1.4.0 is right
-- why: NULL is equal to nothing, so the right join has the row of `a` with a padded `t0`: (0, NULL). The optimizer
--   `common_subplan` computes the left join for both.
-- second opinion: DuckDB 1.4.0, and 2.0.0 with `SET disabled_optimizers = 'common_subplan'`
-- reports: none of this; other wrong results of `common_subplan` are https://github.com/duckdb/duckdb/issues/24624 and https://github.com/duckdb/duckdb/issues/25819

CREATE TABLE t0(c0 INT, c1 INT NOT NULL, c2 INT);
INSERT INTO t0 VALUES (0, 0, NULL);
SELECT a.c0, t0.c1 FROM t0 RIGHT JOIN t0 AS a ON t0.c2 = a.c2;
-- returns: (0, NULL)
SELECT a.c0, t0.c1 FROM t0 LEFT JOIN t0 AS a ON t0.c2 = a.c2
UNION ALL SELECT a.c0, t0.c1 FROM t0 RIGHT JOIN t0 AS a ON t0.c2 = a.c2;
-- returns: (NULL, 0), (NULL, 0)
-- must be: (NULL, 0), (0, NULL)
