-- title: IN with a column in the list converts the constant before it
-- link: https://www.sqlite.org/src/tktview?name=dbaf8a6820
-- fails: sqlite@3.29.0
-- fixed: 3.30.1
-- caught: constraints, eet, identities, norec, tlp-where

CREATE TABLE slot(number INT UNIQUE);
INSERT INTO slot VALUES (6);
SELECT number FROM slot WHERE '6' IN (number);
