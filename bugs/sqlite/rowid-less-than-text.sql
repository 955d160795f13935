-- title: Every rowid is less than a text, but not in a join
-- link: https://www.sqlite.org/src/tktview?name=9cf6c9bb51
-- fails: sqlite@3.28.0
-- fixed: 3.29.0
-- caught: constraints, eet, identities, joinequiv, norec, plan, tlp-where, roundtrip

CREATE TABLE word(spelling);
CREATE TABLE numbered(id INTEGER PRIMARY KEY);
PRAGMA reverse_unordered_selects = 1;
INSERT INTO numbered VALUES (4);
INSERT INTO word VALUES ('four');
SELECT numbered.id, word.spelling FROM numbered, word WHERE numbered.id < word.spelling;
