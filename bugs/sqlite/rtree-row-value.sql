-- title: A row value compared with one of an R-tree
-- link: https://www.sqlite.org/src/tktview?name=f096d191b6
-- fails: sqlite@3.30.1
-- fixed: 3.31.1
-- caught: constraints, eet, identities, index, norec, tlp-where

CREATE TABLE spot(x);
CREATE VIRTUAL TABLE box USING rtree(id, low, high);
INSERT INTO box(high) VALUES (NULL);
INSERT INTO spot VALUES (0);
SELECT * FROM box, spot WHERE (spot.x, 0) > (box.high, 0);
