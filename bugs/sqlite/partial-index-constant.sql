-- title: A partial index on a condition that is never true hides rows
-- link: https://www.sqlite.org/src/tktview?name=9080b6227f
-- fails: sqlite@3.29.0
-- fixed: 3.30.1
-- caught: constraints, eet, epsc, index, norec, tlp-where, roundtrip

CREATE TABLE lamp(volts);
INSERT INTO lamp VALUES (12);
CREATE INDEX none ON lamp(NULL > volts) WHERE (NULL NOT NULL);
SELECT volts FROM lamp WHERE (NULL IS FALSE) IS FALSE;
