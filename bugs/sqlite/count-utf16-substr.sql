-- title: COUNT with SUBSTR in WHERE under UTF-16
-- link: https://www.sqlite.org/src/tktview?name=9eda2697f5
-- fails: sqlite@3.30.1
-- uncaught: no release fails

PRAGMA encoding = 'UTF-16be';
CREATE TABLE byte(b, c);
INSERT INTO byte(b) VALUES (x'00');
CREATE INDEX by_b ON byte(b COLLATE BINARY);
INSERT INTO byte(b) VALUES (3);
SELECT COUNT(*) FROM byte WHERE substr(byte.b, ';');
