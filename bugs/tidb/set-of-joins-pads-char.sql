-- title: A CHAR column comes out of a UNION of joins as padded bytes
-- link: https://github.com/pingcap/tidb/issues/63736
-- fails: tidb@7.5.0
-- caught: joinequiv
-- newest: joinequiv

CREATE TABLE digit(d CHAR(1) NOT NULL);
CREATE TABLE sign(s CHAR(1) NOT NULL);
INSERT INTO digit VALUES ('4');
INSERT INTO sign VALUES ('+');
SELECT DISTINCT digit.d, sign.s FROM digit INNER JOIN sign ON (CASE ((-5) ^ (CASE TRUE WHEN 'x' THEN digit.d ELSE -9 END)) WHEN (sign.s IS NULL) THEN ((digit.d IS NULL) REGEXP sign.s) ELSE digit.d END);
