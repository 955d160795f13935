-- title: A number in a text with a prefix index ends the server
-- class: crash
-- oracle: crash
-- on: dolt@1.83.2
-- why: The text is '0', which is not NULL.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t1(c0 TEXT);
INSERT INTO t1 VALUES ('a ');
CREATE INDEX i0 ON t1(c0(1));
UPDATE t1 SET c0 = 0;
SELECT 0 FROM t1 WHERE NOT c0 IS NULL;
-- returns: crash
-- must be: 0
