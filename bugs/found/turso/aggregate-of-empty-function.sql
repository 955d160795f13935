-- title: An aggregate beside a bare column over a function without rows ends the process
-- class: crash
-- oracle: crash
-- on: turso@0.8.3
-- why: The function has no row under WHERE, so the count is 0 and the bare column NULL.
-- second opinion: SQLite 3.54.1
-- reports: not searched

SELECT COUNT(id), key FROM json_each('[1]') WHERE 0;
-- returns: crash
-- must be: (0, NULL)
