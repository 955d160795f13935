-- title: A coordinate of an R-tree is equal to NULL
-- link: https://www.sqlite.org/src/tktview?name=30e2c183b6
-- fails: sqlite@3.30.1
-- fixed: 3.31.1
-- caught: eet, identities, norec, tlp-where

CREATE VIRTUAL TABLE area USING rtree(id, low, high);
INSERT INTO area(id) VALUES (0);
SELECT area.id FROM area WHERE area.id = NULL;
