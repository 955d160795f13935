-- title: A comparison of row values takes the collation of the wrong side
-- link: https://www.sqlite.org/src/tktview?name=b47e3627ec
-- fails: sqlite@3.30.1
-- fixed: 3.31.0
-- caught: eet, identities, norec, tlp-where

CREATE TABLE pair(low COLLATE NOCASE, high);
INSERT INTO pair VALUES ('m', 'M');
SELECT low FROM pair WHERE (+ high, 2) >= (low, 2);
