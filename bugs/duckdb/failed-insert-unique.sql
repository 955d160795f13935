-- title: An INSERT that violates a UNIQUE index hides the row that was there
-- link: https://github.com/cwida/duckdb/issues/514
-- fails: duckdb@0.3.0
-- uncaught: fixed before 0.3.0, the oldest version that can be obtained

CREATE TABLE one(a INT);
CREATE UNIQUE INDEX only ON one(a);
INSERT INTO one VALUES (4);
INSERT INTO one VALUES (4);
SELECT a FROM one WHERE a = 4;
