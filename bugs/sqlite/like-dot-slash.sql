-- title: LIKE does not match a text of dots and slashes in a NOCASE column of integers
-- link: http://mailinglists.sqlite.org/cgi-bin/mailman/private/sqlite-users/2019-May/084478.html
-- fails: sqlite@3.28.0
-- fixed: 3.29.0
-- caught: constraints, eet, norec, tlp-where, roundtrip

CREATE TABLE path(part INT UNIQUE COLLATE NOCASE);
INSERT INTO path VALUES ('+/');
SELECT part FROM path WHERE part LIKE '+/';
