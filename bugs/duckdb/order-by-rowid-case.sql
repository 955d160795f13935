-- title: ORDER BY of a CASE over rowid damages the rowids
-- link: https://github.com/cwida/duckdb/issues/588
-- fails: duckdb@0.1.5
-- fixed: 0.1.7
-- uncaught: what is wrong differs from run to run, and some runs show nothing

CREATE TABLE one(a INT);
INSERT INTO one VALUES (4), (0), (4);
SELECT one.rowid FROM one WHERE one.rowid > 0 ORDER BY CASE a::BOOL WHEN TRUE THEN one.rowid END;
