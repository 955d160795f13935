-- title: OR of a BETWEEN that is empty and a range
-- link: https://github.com/duckdb/duckdb/issues/3659
-- fails: duckdb@0.3.4
-- fixed: 0.4.0
-- caught: eet, epsc, identities, norec, tlp-where, valscope

CREATE TABLE tab(pk INTEGER PRIMARY KEY, n INTEGER);
INSERT INTO tab VALUES (1, 5), (2, 18), (3, 40), (4, NULL), (5, 70);
SELECT pk FROM tab WHERE n BETWEEN 61 AND 2 OR n > 17 AND (n > 4);
SELECT pk FROM tab WHERE 60 > n OR 9 > n;
