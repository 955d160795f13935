-- title: A lateral join between a comma and a right join cannot be bound
-- link: https://github.com/duckdb/duckdb/issues/17372
-- fails: duckdb@1.1.2
-- fixed: 1.4.0
-- caught: crash

CREATE TABLE outer_one(a INT);
CREATE TABLE inner_one(b INT);
CREATE TABLE last_one(c INT);
INSERT INTO outer_one VALUES (6);
INSERT INTO inner_one VALUES (7);
INSERT INTO last_one VALUES (8);
SELECT * FROM outer_one, inner_one JOIN LATERAL (SELECT inner_one.b AS p, outer_one.a AS q) AS s ON s.p <= 0 RIGHT JOIN last_one ON TRUE;
