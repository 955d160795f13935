-- title: A scalar subquery with EXISTS is moved out of the loop
-- link: https://github.com/PSU-Security-Universe/sqlright
-- fails: sqlite@3.33.0
-- uncaught: no release fails

CREATE TABLE many(m INTEGER);
INSERT INTO many VALUES (20), (14);
CREATE TABLE key(k INTEGER PRIMARY KEY);
INSERT INTO key VALUES (20);
SELECT COUNT(*) FROM many WHERE (SELECT k FROM key WHERE EXISTS (SELECT k FROM many WHERE k = m));
