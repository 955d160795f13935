-- title: A constant compared with a column and a view at once
-- link: https://www.sqlite.org/src/tktview?name=82ac75ba00
-- fails: sqlite@3.30.1
-- fixed: 3.31.0
-- caught: constraints, eet, identities, index, materialise, norec, plan, tlp-where

CREATE TABLE digit(d);
INSERT INTO digit VALUES ('4');
CREATE VIEW four(n) AS SELECT CAST(4 AS INT) FROM digit;
SELECT digit.d, four.n FROM digit, four WHERE 4 >= digit.d AND digit.d = four.n;
