-- title: DISTINCT skips rows of an index that ANALYZE found to have few values
-- link: https://www.sqlite.org/src/tktview?name=ced41c7c7d
-- fails: sqlite@3.29.0
-- fixed: 3.30.1
-- caught: constraints, eet, identities, order, plan, tlp-distinct, roundtrip

CREATE TABLE run(a INT, b INT, c INT, d INT, PRIMARY KEY (d, c));
INSERT INTO run(c) VALUES (7), (7), (7), (7), (7), (7), (7), (7), (7), (7), (NULL), (8), (7);
UPDATE run SET b = 5;
INSERT INTO run(a) VALUES (4), (4), (NULL), (4), (4);
ANALYZE run;
UPDATE run SET c = 8;
SELECT DISTINCT a, b, c, d FROM run WHERE c = 8;
