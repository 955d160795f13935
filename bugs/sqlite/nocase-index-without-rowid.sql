-- title: A NOCASE index on a WITHOUT ROWID table loses rows that differ in case
-- link: https://www.sqlite.org/src/tktview?name=3182d38790
-- fails: sqlite@3.28.0
-- fixed: 3.29.0
-- caught: index, norec, order, tlp-where, roundtrip

CREATE TABLE fruit(name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE INDEX by_name ON fruit(name COLLATE NOCASE);
INSERT INTO fruit VALUES ('Fig'), ('fig');
SELECT name FROM fruit;
