-- title: IS NULL of a column of generate_series is an internal error
-- class: internal error
-- oracle: crash
-- on: h2@2.5.252
-- since: 2.1.214, the oldest version that was tried
-- why: No number of the series is NULL. It also fails where the column is compared with a NULL of another table.
-- second opinion: PostgreSQL 18.6
-- reports: not searched

SELECT * FROM generate_series(0, 0) AS a(c0) WHERE c0 IS NULL;
-- returns: error: Unexpected code path
-- must be: nothing
