-- title: LIKE on a REAL column with a NOCASE index keeps no text
-- link: http://mailinglists.sqlite.org/cgi-bin/mailman/private/sqlite-users/2019-May/084334.html
-- fails: sqlite@3.28.0
-- fixed: 3.29.0
-- caught: constraints, eet, index, norec, tlp-where

CREATE TABLE gauge(level REAL, unit TEXT);
CREATE INDEX by_level ON gauge(level COLLATE NOCASE);
INSERT INTO gauge VALUES ('./', 'bar'), (7, 'bar');
SELECT level FROM gauge WHERE level LIKE './';
