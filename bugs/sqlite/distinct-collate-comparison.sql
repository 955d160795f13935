-- title: DISTINCT takes the collation of a column for that of a comparison
-- link: https://www.sqlite.org/src/tktview?name=18ab5da2c0
-- fails: sqlite@3.29.0
-- uncaught: no release disagrees with itself: the comparison is as wrong without DISTINCT

CREATE TABLE note(body COLLATE RTRIM);
INSERT INTO note VALUES ('  '), ('x ');
SELECT DISTINCT note.body <> '' FROM note;
