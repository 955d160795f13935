-- title: NOT IN over a subquery keeps a row where it is NULL
-- class: wrong result
-- oracle: identities, norec
-- on: hyper@0.0.26963
-- why: `NULL NOT IN (SELECT 0)` is NULL, as the select list says, so WHERE must drop the row. It is the same where the value is in
--   a column, and where the subquery has a NULL.
-- second opinion: PostgreSQL 18.6 returns no rows
-- reports: not searched

SELECT NULL NOT IN (SELECT 0);
-- returns: NULL
SELECT 0 WHERE NULL NOT IN (SELECT 0);
-- returns: 0
-- must be: nothing
SELECT 0 WHERE NOT '' IN (SELECT CAST(NULL AS TEXT));
-- returns: 0
-- must be: nothing

CREATE TABLE person(name TEXT);
CREATE TABLE barred(name TEXT);
INSERT INTO person VALUES ('Ada'), (NULL);
INSERT INTO barred VALUES ('Bob'), (NULL);
SELECT name FROM person WHERE name NOT IN (SELECT name FROM barred);
-- returns: 'Ada', NULL
-- must be: nothing
