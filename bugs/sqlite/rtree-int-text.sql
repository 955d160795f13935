-- title: A text compared with a coordinate of an R-tree declared INT
-- link: https://www.sqlite.org/src/tktview?name=aa573a787b
-- fails: sqlite@3.30.1
-- uncaught: no release fails

CREATE VIRTUAL TABLE box USING rtree(id, low, high INT);
INSERT INTO box(low, high) VALUES (2, 8);
SELECT * FROM box WHERE '8' = box.high;
