-- title: Preparing JSON_OBJECT_FILTER_KEYS with a parameter ends the server
-- class: crash
-- oracle: epsc
-- on: mariadb@11.8.9
-- why: The statement is valid: it runs without PREPARE.
-- second opinion: MariaDB itself without PREPARE
-- reports: not searched

SELECT JSON_OBJECT_FILTER_KEYS(0, '[]');
-- returns: NULL
PREPARE p FROM 'SELECT JSON_OBJECT_FILTER_KEYS(0, ?)';
-- returns: crash
-- must be: ok
