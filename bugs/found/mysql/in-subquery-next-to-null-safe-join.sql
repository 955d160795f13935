-- title: IN that is NULL keeps its row next to a join on <=>
-- class: wrong result
-- oracle: tlp-where
-- on: mysql@9.7.4
-- why: NULL IN a list that is not empty is NULL, as the select list says, so WHERE must drop the row. MariaDB has this bug, too.
-- second opinion: MySQL itself, with the condition in the select list
-- reports: not searched

CREATE TABLE t7(c0 INT);
INSERT INTO t7 VALUES (NULL);
SELECT c0 IN (SELECT c1) FROM (SELECT c0 AS c1 FROM t7 GROUP BY c0) AS a JOIN t7 ON c1 <=> c0;
-- returns: NULL
SELECT 0 FROM (SELECT c0 AS c1 FROM t7 GROUP BY c0) AS a JOIN t7 ON c1 <=> c0 WHERE c0 IN (SELECT c1);
-- returns: 0
-- must be: nothing
