-- title: A partial index is used for a query that does not imply its condition
-- link: https://www.sqlite.org/src/tktview?name=5c6955204c
-- fails: sqlite@3.28.0
-- fixed: 3.29.0
-- caught: constraints, eet, identities, index, norec, tlp-where, valscope

CREATE TABLE item(code);
CREATE INDEX coded ON item(code) WHERE (~code) NOT NULL;
INSERT INTO item VALUES (NULL), (3);
SELECT code FROM item WHERE likely(~code) OR 1 = 1;
