-- title: A rowid compared with a number beyond all integers
-- link: https://github.com/PSU-Security-Universe/sqlright
-- fails: sqlite@3.33.0
-- fixed: 3.38.5
-- caught: constraints, eet, identities, norec, order, plan, tlp-where, roundtrip

CREATE TABLE last(id INTEGER PRIMARY KEY);
INSERT INTO last VALUES (9223372036854775807);
SELECT id FROM last WHERE id >= (9223372036854775807 + 1);
