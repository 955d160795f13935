-- title: ROUND of infinity is not infinity
-- link: http://mailinglists.sqlite.org/cgi-bin/mailman/private/sqlite-users/2019-May/084497.html
-- fails: sqlite@3.28.0
-- uncaught: the same wrong value in every place: ROUND itself is wrong, no rewriting of the query changes that

CREATE TABLE probe(value REAL);
INSERT INTO probe VALUES (1e999), (2.5);
SELECT value FROM probe WHERE round(value) >= round(2);
