-- title: A partial index on the padded side of a LEFT JOIN in a view
-- link: https://sqlite.org/src/tktview?name=623eff57e7
-- fails: sqlite@3.30.1
-- fixed: 3.31.0
-- caught: constraints, eet, epsc, identities, index, materialise, norec, plan, tlp-aggregate, tlp-where

CREATE TABLE opt(note);
CREATE TABLE main_row(id);
INSERT INTO main_row VALUES (3);
CREATE INDEX never ON opt(7) WHERE NULL IN (note);
CREATE VIEW padded(note) AS SELECT opt.note FROM main_row LEFT JOIN opt;
SELECT COUNT(*) FROM padded WHERE NULL IN (padded.note);
