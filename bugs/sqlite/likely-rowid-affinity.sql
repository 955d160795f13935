-- title: likely() changes how a rowid is compared
-- link: https://www.sqlite.org/src/tktview?name=7e07a3dbf5
-- fails: sqlite@3.29.0
-- fixed: 3.30.1
-- caught: eet, identities, norec, tlp-where

CREATE TABLE line(text);
INSERT INTO line VALUES ('one'), ('two');
SELECT text FROM line WHERE likely(line.rowid) <= '1';
