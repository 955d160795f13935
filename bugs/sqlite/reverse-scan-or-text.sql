-- title: With reverse scans a rowid is neither greater nor less than a text
-- link: http://mailinglists.sqlite.org/cgi-bin/mailman/private/sqlite-users/2019-May/084480.html
-- fails: sqlite@3.28.0
-- fixed: 3.29.0
-- caught: constraints, eet, identities, norec, order, plan, tlp-where, roundtrip

CREATE TABLE seat(number INTEGER PRIMARY KEY);
INSERT INTO seat VALUES (12), (13);
PRAGMA reverse_unordered_selects = 1;
SELECT number FROM seat WHERE number > 'row' OR number <= 'row';
