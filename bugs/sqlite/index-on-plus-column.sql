-- title: A column from an expression index loses its type
-- link: https://www.sqlite.org/src/tktview?name=57af00b664
-- fails: sqlite@3.29.0
-- fixed: 3.30.1
-- caught: constraints, eet, index, norec, plan

CREATE TABLE meter(reading REAL, unit TEXT);
CREATE INDEX plain ON meter(+reading, reading);
INSERT INTO meter(reading) VALUES (4);
SELECT CAST(+ meter.reading AS BLOB) LIKE 4 FROM meter;
