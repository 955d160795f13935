-- title: A condition on a row value turns an outer join into an inner one
-- class: wrong result
-- oracle: norec, tlp-where
-- on: mariadb@11.8.9
-- why: (0, NULL) is less than (1, 0), because 0 is less than 1, so the padded row meets the condition. MySQL has this bug, too.
-- second opinion: MariaDB itself, with the condition in the select list; PostgreSQL 18.6
-- reports: not searched

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
SELECT (0, t0.c0) < (1, 0) FROM t0 RIGHT JOIN t0 AS a ON 0;
-- returns: 1
SELECT 0 FROM t0 RIGHT JOIN t0 AS a ON 0 WHERE (0, t0.c0) < (1, 0);
-- returns: nothing
-- must be: 0
