-- title: A double negation changes a quantified comparison
-- class: wrong result
-- oracle: tlp-where
-- on: mariadb@11.8.9
-- why: 0 is not less than 0, so the comparison is TRUE, and so is its double negation.
-- second opinion: MySQL 9.7.4
-- reports: not searched

SELECT 0 >= ALL (SELECT 0), NOT NOT 0 >= ALL (SELECT 0);
-- returns: (1, 0)
-- must be: (1, 1)
