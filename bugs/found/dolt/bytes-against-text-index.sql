-- title: A comparison with bytes reads an index in the order of texts
-- class: wrong result
-- oracle: tlp-where
-- on: dolt@1.83.2
-- why: The comparison is one of bytes, and only '1' is not greater than '1'. The index is in the order of the collation.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t1(c0 VARCHAR(20) NOT NULL, c1 INT);
CREATE INDEX i0 ON t1(c0);
INSERT INTO t1 VALUES ('1', 1), ('😀', 3), ('A', 5), ('\\\\', 6);
SELECT c1 FROM t1 WHERE c0 <= CAST('1' AS BINARY);
-- returns: 1, 3, 6
-- must be: 1
