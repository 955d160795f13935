-- title: A join of two R-trees on a text finds rows
-- link: https://www.sqlite.org/src/tktview?name=9fe487ba3c
-- fails: sqlite@3.30.1
-- fixed: 3.31.1
-- caught: eet, identities, norec, tlp-where

CREATE VIRTUAL TABLE north USING rtree(id, low, high);
CREATE VIRTUAL TABLE south USING rtree(id, low, high);
INSERT INTO south(id) VALUES (x'00');
INSERT INTO north(id) VALUES ('n');
SELECT north.id, south.id FROM south, north WHERE north.id = CAST(south.id AS TEXT);
