-- title: A prepared CREATE TABLE is an internal error the second time
-- class: internal error
-- oracle: crash
-- on: h2@2.5.252
-- why: The table was dropped, so it can be made again.
-- second opinion: none: PostgreSQL does not prepare CREATE TABLE
-- reports: not searched

PREPARE p1 AS CREATE TABLE t2(c0 INT);
EXECUTE p1;
DROP TABLE t2;
EXECUTE p1;
-- returns: error: Prepared.getObjectId() was called before
-- must be: ok
