-- title: DISTINCT in a view ordered by the rowid of a full-text table
-- link: https://www.sqlite.org/src/tktview?name=7e59041f9c
-- fails: sqlite@3.30.1
-- uncaught: needs an ORDER BY inside a view with DISTINCT; oracles that deduplicate take no ORDER BY

CREATE TABLE num(n);
CREATE VIRTUAL TABLE doc USING fts5(body);
INSERT INTO num VALUES (4), (6);
INSERT INTO doc VALUES ('aa'), ('bb');
CREATE VIEW uniq AS SELECT DISTINCT num.n AS n FROM doc, num ORDER BY doc.rowid;
SELECT uniq.n FROM uniq;
