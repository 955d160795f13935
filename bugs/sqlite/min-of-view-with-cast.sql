-- title: A column beside MIN comes from a row that the view filters away
-- link: https://www.sqlite.org/src/tktview?name=f8a7060ece
-- fails: sqlite@3.29.0
-- caught: order

CREATE TABLE log(seen UNIQUE, total);
INSERT INTO log(total) VALUES (6);
INSERT INTO log(seen) VALUES (2);
CREATE VIEW first(total, seen) AS SELECT log.total, log.seen FROM log WHERE CAST(log.rowid AS INT) = 1;
SELECT first.total, MIN(first.seen) FROM first;
