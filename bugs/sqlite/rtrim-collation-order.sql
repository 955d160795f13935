-- title: The RTRIM collation orders blanks and other characters so that a key is lost
-- link: https://www.sqlite.org/src/tktview?name=f1580ba1b5
-- fails: sqlite@3.28.0
-- fixed: 3.29.0
-- caught: constraints, eet, identities, norec, tlp-where

CREATE TABLE cell(tone COLLATE RTRIM, id BLOB UNIQUE, PRIMARY KEY (tone, id)) WITHOUT ROWID;
INSERT INTO cell VALUES (456, 30), (' ', 10), ('	', 20), ('', 40);
SELECT tone, id FROM cell WHERE id = 10;
