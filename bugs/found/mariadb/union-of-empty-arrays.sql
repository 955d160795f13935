-- title: UNION removes the brackets of an empty JSON array
-- class: wrong result
-- oracle: tlp-where
-- on: mariadb@11.8.9
-- why: JSON_ARRAY() is [].
-- second opinion: MySQL 9.7.4
-- reports: not searched

SELECT JSON_ARRAY();
-- returns: '[]'
SELECT JSON_ARRAY() UNION ALL SELECT JSON_ARRAY();
-- returns: '', ''
-- must be: '[]', '[]'
