-- title: MAX orders texts under UTF-16 otherwise than a comparison
-- link: https://www.sqlite.org/src/tktview?name=1b8d726456
-- fails: sqlite@3.31.1
-- fixed: 3.32.0
-- caught: tlp-aggregate

PRAGMA encoding = 'UTF-16';
CREATE TABLE sign(s TEXT);
INSERT INTO sign VALUES ('갆'), (1);
SELECT MAX(CASE 2 WHEN 2 THEN sign.s END) FROM sign;
