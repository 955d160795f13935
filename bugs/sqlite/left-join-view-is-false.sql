-- title: A LEFT JOIN in a view is made an inner join by NOT (… IS FALSE)
-- link: https://www.sqlite.org/src/tktview?name=a976c487d1
-- fails: sqlite@3.29.0
-- uncaught: only 3.30.0 has it, of which there is no package; 3.29.0 and 3.30.1 answer rightly

CREATE TABLE maybe(flag);
CREATE TABLE always(id);
CREATE VIEW both AS SELECT flag FROM always LEFT JOIN maybe;
INSERT INTO always VALUES (9);
SELECT both.flag FROM both WHERE NOT (both.flag IS FALSE);
