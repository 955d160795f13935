-- title: INTERSECT with an ordered and limited subquery under reverse scans
-- link: http://mailinglists.sqlite.org/cgi-bin/mailman/private/sqlite-users/2019-May/084539.html
-- fails: sqlite@3.28.0
-- fixed: 3.29.0
-- caught: identities, norec, tlp-where

PRAGMA reverse_unordered_selects = 1;
CREATE TABLE grid(x, y);
CREATE TABLE step(n INT UNIQUE);
INSERT INTO grid VALUES (5, 5), (5, NULL);
INSERT INTO step VALUES (6);
SELECT step.n, grid.y FROM grid, step WHERE step.rowid <= 'z' OR grid.x <= step.n;
