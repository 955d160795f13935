-- title: Minus a lone point is 0.0, not 0
-- link: https://www.sqlite.org/src/tktview?name=412bba9b22
-- fails: sqlite@3.28.0
-- uncaught: no release fails

CREATE TABLE mark(sign TEXT);
INSERT INTO mark VALUES ('.'), ('-');
SELECT typeof(-sign) FROM mark;
