-- title: An index of a WITHOUT ROWID table with a descending key loses a range
-- link: https://github.com/PSU-Security-Universe/sqlright
-- fails: sqlite@3.33.0
-- fixed: 3.36.0
-- caught: constraints, eet, identities, index, norec, tlp-where, valscope

CREATE TABLE stack(head INT PRIMARY KEY DESC, depth INT) WITHOUT ROWID;
INSERT INTO stack VALUES (20, 30);
CREATE INDEX deep ON stack(depth);
SELECT head, depth FROM stack WHERE depth = 30 AND head < 21;
