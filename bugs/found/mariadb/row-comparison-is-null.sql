-- title: A comparison of rows that is UNKNOWN is not NULL
-- class: wrong result
-- oracle: tlp-where
-- on: mariadb@11.8.9
-- why: 0 = 0 and NULL = 0 are TRUE and UNKNOWN, so the comparison is UNKNOWN.
-- second opinion: MySQL 9.7.4 and PostgreSQL 18.6
-- reports: not searched

SELECT (0, NULL) = (0, 0);
-- returns: NULL
SELECT ((0, NULL) = (0, 0)) IS NULL;
-- returns: 0
-- must be: 1
