-- title: A join on a converted key loses its row under a condition that is TRUE
-- class: wrong result
-- oracle: norec, tlp-where
-- on: mysql@9.7.4
-- why: The join returns '1a', which is TRUE as a condition (it is 1 as a number), so WHERE must keep the row.
-- second opinion: MariaDB keeps it
-- reports: none of this; a natural join on a converted key is https://bugs.mysql.com/bug.php?id=118541

CREATE TABLE t4(c0 DECIMAL(30, 10) PRIMARY KEY);
CREATE TABLE t5(c0 TEXT);
INSERT INTO t4 VALUES (1);
INSERT INTO t5 VALUES ('1a');
SELECT t5.c0 FROM t4 NATURAL LEFT JOIN t5;
-- returns: '1a'
SELECT t5.c0 FROM t4 NATURAL LEFT JOIN t5 WHERE t5.c0;
-- returns: nothing
-- must be: '1a'
