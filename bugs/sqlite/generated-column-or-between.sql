-- title: OR over two UNIQUE columns keeps a row on which it is NULL
-- link: https://sqlite.org/src/tktview?name=ce22a07731
-- fails: sqlite@3.31.1
-- uncaught: no release fails: generated columns came with 3.31.0, in which it was mended

CREATE TABLE tri(one GENERATED ALWAYS AS (1), two UNIQUE, three UNIQUE);
INSERT INTO tri(two) VALUES (5);
SELECT two FROM tri WHERE 4 = three OR two BETWEEN three AND 5;
