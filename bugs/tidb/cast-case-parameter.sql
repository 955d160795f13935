-- title: CAST of a CASE cuts a number to the length of a CHAR column once its condition is a parameter
-- fails: tidb@8.5.6
-- uncaught: parameters are cast, because their types follow from what is around them

CREATE TABLE mark(letter CHAR);
INSERT INTO mark VALUES ('b');
SELECT CAST((CASE WHEN TRUE THEN -7 ELSE letter END) AS CHAR) FROM mark;
