-- title: A negated blob compared with a text key
-- link: https://www.sqlite.org/src/tktview?name=ac184eb571
-- fails: sqlite@3.29.0
-- fixed: 3.30.1
-- caught: constraints, eet, epsc, identities, norec, tlp-where

CREATE TABLE chip(serial TEXT UNIQUE, kind);
INSERT INTO chip(serial) VALUES (-7);
SELECT serial FROM chip WHERE - x'ab' >= serial;
