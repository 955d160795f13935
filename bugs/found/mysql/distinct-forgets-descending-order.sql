-- title: With temporary tables on disk, DISTINCT forgets the direction of ORDER BY
-- class: wrong result
-- oracle: order
-- on: mysql@9.7.4
-- settings: `SET big_tables = 1`
-- why: The rows must come in descending order, as they do with `big_tables = 0`.
-- second opinion: MySQL itself with `big_tables = 0`
-- reports: not searched

CREATE TABLE t0(c0 INT, c1 INT, PRIMARY KEY (c1));
INSERT INTO t0 VALUES (2, -2147483648), (2, 65536), (NULL, 4), (6, 2);
SET big_tables = 1;
SELECT DISTINCT t0.c1 FROM t0 JOIN t0 AS a ON t0.c1 = a.c1 ORDER BY t0.c1 DESC;
-- returns: -2147483648, 2, 4, 65536
-- must be: 65536, 4, 2, -2147483648
