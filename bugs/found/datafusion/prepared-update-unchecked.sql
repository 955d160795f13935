-- title: A prepared UPDATE runs with a condition of the wrong type
-- class: wrong error
-- oracle: epsc
-- on: datafusion@55.2.0
-- why: A TIMESTAMP is no condition. The same UPDATE that is not prepared is refused, and so is a SELECT.
-- second opinion: PostgreSQL 18.6 refuses both
-- reports: not searched

CREATE TABLE t0(c0 TIMESTAMP, c1 INT);
UPDATE t0 SET c1 = 0 WHERE (c0 OR 0 <> 0) AND 0 >= 1;
-- returns: error
PREPARE p0 AS UPDATE t0 SET c1 = 0 WHERE (c0 OR 0 <> 0) AND 0 >= 1;
EXECUTE p0;
-- returns: 0
-- must be: error
