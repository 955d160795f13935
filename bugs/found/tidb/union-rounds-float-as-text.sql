-- title: A float of a UNION with a decimal is rounded when it is sent as text
-- class: wrong result
-- oracle: epsc
-- on: tidb@8.5.6
-- since: 7.5.0, the oldest version that was tried
-- why: The column is a DOUBLE, and the value in it is right: a comparison with 1.23456e0 around the query is TRUE. The protocol of
--   prepared statements sends 1.23456.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t0(c0 DECIMAL(10, 2));
SELECT c0 FROM t0 UNION ALL SELECT 1.23456e0;
-- returns: 1.23
-- must be: 1.23456
