-- title: INTERSECT takes texts for different that the collation takes for equal
-- link: https://github.com/duckdb/duckdb/issues/20308
-- fails: duckdb@1.1.2
-- fixed: 1.5.6
-- caught: identities

CREATE TABLE lower_case(t VARCHAR COLLATE NOCASE);
CREATE TABLE upper_case(t VARCHAR COLLATE NOCASE);
INSERT INTO lower_case VALUES ('b');
INSERT INTO upper_case VALUES ('B');
SELECT t FROM lower_case INTERSECT SELECT t FROM upper_case;
