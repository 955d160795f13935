-- title: A text between a number and a rowid
-- link: https://www.sqlite.org/src/tktview?name=d9f584e936
-- fails: sqlite@3.29.0
-- fixed: 3.30.1
-- caught: constraints, eet, identities, norec, order, plan, tlp-where, roundtrip

CREATE TABLE room(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO room VALUES (5, 'hall');
SELECT id, name FROM room WHERE '-3' BETWEEN 0 AND id;
