-- title: REINDEX breaks the descending key of a WITHOUT ROWID table with a UNIQUE column
-- link: https://www.sqlite.org/src/tktview?name=bba7b69f98
-- fails: sqlite@3.28.0
-- fixed: 3.29.0
-- caught: constraints, eet, identities, index, norec, plan, tlp-where, roundtrip

CREATE TABLE shelf(place PRIMARY KEY DESC, label UNIQUE DEFAULT NULL) WITHOUT ROWID;
INSERT INTO shelf(place) VALUES (10), (20), (30), (40), (50);
REINDEX;
SELECT place, label FROM shelf WHERE place IN (SELECT place FROM shelf) AND label IS NULL;
