-- title: MIN under NOCASE stops at a NUL character
-- link: https://www.sqlite.org/src/tktview?name=fa146dcfe6
-- fails: sqlite@3.31.1
-- uncaught: texts that the collation takes for equal are not compared: either may be the smallest

CREATE TABLE raw(t COLLATE NOCASE);
INSERT INTO raw VALUES (char(0, 66)), (char(0, 65));
SELECT MIN(raw.t) FROM raw;
