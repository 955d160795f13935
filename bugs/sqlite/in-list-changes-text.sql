-- title: A comparison in WHERE turns the text of a view into a number
-- link: https://www.sqlite.org/src/tktview?name=c7a1171907
-- fails: sqlite@3.29.0
-- fixed: 3.30.1
-- caught: eet, identities, materialise, norec, plan, tlp-where

CREATE TABLE base(id INTEGER PRIMARY KEY, x);
CREATE VIEW label(text) AS SELECT lower(CAST('2e600' AS TEXT)) FROM base;
INSERT INTO base VALUES (1, NULL);
SELECT label.text FROM label, base WHERE base.rowid NOT IN (7, 8, label.text);
