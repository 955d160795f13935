-- title: BETWEEN is taken to imply that a column is not NULL
-- link: https://www.sqlite.org/src/tktview?name=f8f472cbc7
-- fails: sqlite@3.29.0
-- fixed: 3.30.1
-- caught: eet, identities, index, norec, order, tlp-where

CREATE TABLE pin(pos);
CREATE INDEX ones ON pin(1) WHERE pos NOT NULL;
INSERT INTO pin VALUES (NULL);
SELECT rowid FROM pin WHERE '' BETWEEN pos AND 1 IN (FALSE);
