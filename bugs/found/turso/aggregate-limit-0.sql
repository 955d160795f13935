-- title: An aggregate without FROM ignores LIMIT 0
-- class: wrong result
-- oracle: identities
-- on: turso@0.8.3
-- why: LIMIT 0 leaves no row.
-- second opinion: SQLite 3.40.1 and 3.54.1
-- reports: none found

SELECT SUM(0) LIMIT 0;
-- returns: NULL
-- must be: nothing
