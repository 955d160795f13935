-- title: IN does not find what IS TRUE gives
-- link: https://www.sqlite.org/src/tktview?name=f3ff147288
-- fails: sqlite@3.33.0
-- fixed: 3.34.0
-- caught: eet, identities

CREATE TABLE bit(b INT);
INSERT INTO bit VALUES (1), (3);
SELECT b FROM bit WHERE b IN (5 IS TRUE);
