-- title: IN over a subquery with OFFSET keeps a row once its constants are parameters
-- link: https://github.com/duckdb/duckdb/issues/20792
-- fails: duckdb@1.4.0
-- uncaught: the parameter of IS NOT NULL is NULL, which no parameter of ours is where types are fixed

CREATE TABLE flag(f BOOLEAN);
CREATE TABLE event(at DATE);
INSERT INTO event VALUES (DATE '1969-11-02'), (NULL);
INSERT INTO flag VALUES (TRUE);
SELECT TIMESTAMP '1970-02-03 10:00:00' FROM flag WHERE (NULL IS NOT NULL) IN ((SELECT event.rowid FROM event OFFSET 5000000));
