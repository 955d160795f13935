-- title: A left and a right outer join are taken for one plan
-- link: bugs/duckdb.md
-- fails: duckdb@2.0.0
-- caught: joinequiv
-- newest: joinequiv

CREATE TABLE node(id INT NOT NULL, label INT, parent INT);
INSERT INTO node VALUES (4, 4, NULL);
SELECT node.id, up.label FROM node JOIN node AS up ON node.parent = up.parent;
