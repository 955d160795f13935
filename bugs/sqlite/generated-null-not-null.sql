-- title: A generated column declared NOT NULL that is NULL
-- link: https://github.com/PSU-Security-Universe/sqlright
-- fails: sqlite@3.33.0
-- fixed: 3.38.5
-- caught: constraints, norec

CREATE TABLE gen(x);
INSERT INTO gen VALUES (17);
ALTER TABLE gen ADD COLUMN y AS (NULL) NOT NULL;
SELECT COUNT(*) FROM gen WHERE y NOT IN (SELECT COUNT(*) FROM gen);
