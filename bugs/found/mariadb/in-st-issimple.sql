-- title: IN over ST_ISSIMPLE of a constant ends the server
-- class: crash
-- oracle: tlp-where, storage
-- on: mariadb@11.8.9
-- why: A line is simple, so the list is 1, and 0 is not in it.
-- second opinion: MySQL 9.7.4
-- reports: not searched

SELECT 0 FROM (SELECT 0 AS c0) AS a WHERE c0 IN (ST_ISSIMPLE(ST_GeomFromText('LINESTRING(0 0,5 5)')));
-- returns: crash
-- must be: nothing
