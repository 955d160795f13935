-- title: An index on texts loses rows that share a key
-- link: https://github.com/duckdb/duckdb/issues/13785
-- fails: duckdb@1.0.0
-- uncaught: fails between two releases only

CREATE TABLE word(w VARCHAR);
INSERT INTO word VALUES ('k');
CREATE INDEX by_w ON word(w);
INSERT INTO word VALUES ('k');
SELECT w FROM word WHERE w <= 'k';
