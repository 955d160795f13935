-- title: A join condition on IS NULL and NOT IN replaces a value
-- link: https://github.com/cwida/duckdb/issues/527
-- fails: duckdb@0.3.0
-- caught: crash

CREATE TABLE one(a INT);
CREATE TABLE two(b INT);
INSERT INTO one VALUES (0);
INSERT INTO two VALUES (6), (6);
SELECT one.a FROM one JOIN two ON one.a = CAST((two.b IS NULL) AS INT) WHERE one.a NOT IN (two.b);
