-- title: An index on a name that is no column gives its name as a value once a column is called so
-- link: https://www.sqlite.org/src/tktview?name=9b78184be2
-- fails: sqlite@3.28.0
-- fixed: 3.36.0
-- caught: tlp-where

CREATE TABLE tag(word, weight INT);
INSERT INTO tag VALUES ('x', 5);
CREATE INDEX odd ON tag("Topic");
ALTER TABLE tag RENAME COLUMN word TO topic;
SELECT DISTINCT topic, weight FROM tag;
