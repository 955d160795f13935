-- title: COLLATE on the first operand of BETWEEN is ignored
-- link: https://www.sqlite.org/src/tktview?name=e1e07ef202
-- fails: sqlite@3.28.0
-- fixed: 3.29.0
-- caught: identities

CREATE TABLE grade(mark TEXT);
INSERT INTO grade VALUES ('1'), ('8');
SELECT mark FROM grade WHERE (mark COLLATE NOCASE) BETWEEN 2 AND '6';
