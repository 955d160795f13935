-- title: NOT of NULL IN a subquery keeps a row
-- class: wrong result
-- oracle: tlp-where
-- on: dolt@1.83.2
-- why: NULL IN a list that is not empty is NULL, and so is its negation.
-- second opinion: MySQL 9.7.4
-- reports: not searched

SELECT 0 WHERE NOT NULL IN (SELECT 0);
-- returns: 0
-- must be: nothing
