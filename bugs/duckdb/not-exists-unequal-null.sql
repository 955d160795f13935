-- title: NOT EXISTS over an inequality with NULL keeps no row
-- link: https://github.com/duckdb/duckdb/issues/16803
-- fails: duckdb@1.1.2
-- fixed: 1.4.0
-- caught: eet, identities, norec, plan, tlp-where

CREATE TABLE known(k VARCHAR);
CREATE TABLE asked(q VARCHAR);
INSERT INTO asked VALUES (NULL);
INSERT INTO known VALUES ('5');
SELECT q FROM asked WHERE NOT EXISTS (SELECT 1 FROM known WHERE known.k <> asked.q);
