-- title: A JSON value is compared with IS NULL otherwise than with the number that it gives
-- fails: tidb@7.5.0
-- uncaught: no column of a generated table is JSON

CREATE TABLE note(a DOUBLE, j JSON, n BIGINT);
INSERT INTO note VALUES (-1.5, 'false', 12);
SELECT j, n FROM note WHERE j <= (a IS NULL);
