-- title: A condition on a window count with EXCLUDE stops too early
-- class: wrong result
-- oracle: tlp-where
-- on: postgres@18.4
-- since: 15.0; 14.23 is right
-- fixed: 18.6
-- why: Two rows have a count of 2. PostgreSQL assumes that a count over a frame that starts at UNBOUNDED PRECEDING never
--   decreases, so it stops at the first row above 2. But EXCLUDE removes rows again.
-- second opinion: SQLite, DuckDB, PostgreSQL 14
-- reports: not searched

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0), (0), (1), (2);
CREATE VIEW v0 AS SELECT c0, COUNT(*) OVER (ORDER BY c0 DESC
  RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE GROUP) AS n FROM t0;
SELECT c0, n FROM v0;
-- returns: (2, 3), (1, 3), (0, 2), (0, 2)
SELECT c0, n FROM v0 WHERE n + 0 = 2;
-- returns: (0, 2), (0, 2)
SELECT c0, n FROM v0 WHERE n = 2;
-- returns: nothing
-- must be: (0, 2), (0, 2)
