-- title: NOT (NULL OR TRUE) is TRUE
-- link: https://github.com/cwida/duckdb/issues/489
-- fails: duckdb@0.1.5
-- fixed: 0.1.7
-- caught: eet, identities, tlp-where, valscope

CREATE TABLE one(a INT);
INSERT INTO one VALUES (4);
SELECT a FROM one WHERE NOT (NULL OR TRUE);
