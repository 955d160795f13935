-- title: A partial index on a comparison with NULL is used for IS NOT NULL
-- link: https://github.com/PSU-Security-Universe/sqlright
-- fails: sqlite@3.33.0
-- fixed: 3.36.0
-- caught: constraints, eet, index, norec, plan, tlp-where

CREATE TABLE pair(a INT, b INT);
INSERT INTO pair VALUES (30, 40);
CREATE UNIQUE INDEX nobody ON pair(b) WHERE a > NULL;
SELECT a, b FROM pair WHERE pair.a IS NOT NULL;
