-- title: OR over an index that begins with a virtual column ends the server
-- class: crash
-- oracle: crash
-- on: dolt@1.83.2
-- why: c0 is 1, so the row stays.
-- second opinion: MySQL 9.7.4
-- reports: not searched

CREATE TABLE t2(c0 INT, c1 INT, c2 INT GENERATED ALWAYS AS (1) VIRTUAL, c3 INT);
CREATE INDEX i2 ON t2(c2, c0);
INSERT INTO t2(c0, c1, c3) VALUES (1, 2, 3);
SELECT 1 FROM t2 WHERE c2 < -793 OR c0 <= 32767;
-- returns: crash
-- must be: 1
