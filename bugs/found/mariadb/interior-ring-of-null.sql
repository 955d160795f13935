-- title: JSON_REMOVE of an interior ring over EXCEPT ends the server
-- class: crash
-- oracle: tlp-where, storage
-- on: mariadb@10.5
-- fixed: 11.8.9
-- why: The path is NULL, so JSON_REMOVE is NULL, and the text 'a' is not <=> NULL.
--   11.4.5 and 11.8.6 had the bug, too.
-- second opinion: MariaDB 10.11.18 and 11.8.9
-- reports: not searched

CREATE TABLE t5(c0 VARCHAR(20));
INSERT INTO t5 VALUES ('a');
SELECT 0 FROM (SELECT c0 FROM t5 EXCEPT SELECT 0) AS a WHERE JSON_REMOVE(0, ST_INTERIORRINGN(NULL, 0)) <=> c0;
-- returns: crash
-- must be: nothing
