-- title: A cast of -0.0 to NUMERIC is a float
-- link: https://www.sqlite.org/src/tktview?name=674385aeba
-- fails: sqlite@3.28.0
-- uncaught: the type of a value: the same wrong conversion in every arm

CREATE TABLE mark(sign TEXT);
INSERT INTO mark VALUES ('-0.0');
SELECT typeof(CAST(sign AS NUMERIC)) FROM mark;
