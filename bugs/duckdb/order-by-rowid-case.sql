-- title: ORDER BY of a CASE over rowid damages the rowids
-- link: https://github.com/cwida/duckdb/issues/588
-- fails: duckdb@0.3.0
-- uncaught: fixed before 0.3.0, the oldest version that can be obtained

CREATE TABLE one(a INT);
INSERT INTO one VALUES (4), (0), (4);
SELECT one.rowid FROM one WHERE one.rowid > 0 ORDER BY CASE a::BOOL WHEN TRUE THEN one.rowid END;
