-- title: A coordinate of an R-tree is greater than a text
-- link: https://www.sqlite.org/src/tktview?name=367a86e288
-- fails: sqlite@3.30.1
-- fixed: 3.31.1
-- caught: eet, identities, norec, tlp-where

CREATE VIRTUAL TABLE box USING rtree(id, low, high);
INSERT INTO box(low, high) VALUES (3, 5);
SELECT * FROM box WHERE box.low > '-4';
