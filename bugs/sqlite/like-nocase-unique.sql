-- title: LIKE with a percent sign misses a row of a UNIQUE NOCASE column of integers
-- link: https://www.sqlite.org/src/tktview?name=ce8717f088
-- fails: sqlite@3.28.0
-- fixed: 3.29.0
-- caught: constraints, eet, norec, tlp-where, roundtrip

CREATE TABLE ratio(part INT UNIQUE COLLATE NOCASE);
INSERT INTO ratio VALUES ('.25%'), (9);
SELECT part FROM ratio WHERE part LIKE '.25%';
