-- title: A comparison with ALL of a subquery is true in WHERE where it is NULL
-- class: wrong result
-- oracle: tlp-where
-- on: hyper@0.0.26963
-- why: A comparison with NULL is NULL, and WHERE keeps only rows for which its condition is TRUE.
-- second opinion: PostgreSQL 18.6
-- reports: not searched

SELECT 0 WHERE NULL < ALL (SELECT 0);
-- returns: 0
-- must be: nothing
SELECT 1 WHERE 0 < ALL (SELECT CAST(NULL AS INT));
-- returns: 1
-- must be: nothing
