-- title: A condition on FIELD turns an outer join into an inner one
-- class: wrong result
-- oracle: norec, tlp-where
-- on: mysql@9.7.4
-- why: FIELD(NULL, 0) is 0, as the manual says, so the padded row meets the condition. MySQL assumes that a function of NULL is
--   NULL. The same happens with MAKE_SET and IS_IPV4_MAPPED. MariaDB has this bug for more functions.
-- second opinion: MySQL itself, with the condition in the select list
-- reports: not searched

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
SELECT NOT FIELD(a.c0, 0), QUOTE(a.c0) = 'NULL' FROM t0 LEFT JOIN t0 AS a ON 0;
-- returns: (1, 1)
SELECT 0 FROM t0 LEFT JOIN t0 AS a ON 0 WHERE QUOTE(a.c0) = 'NULL';
-- returns: nothing
-- must be: 0
SELECT 0 FROM t0 LEFT JOIN t0 AS a ON 0 WHERE NOT FIELD(a.c0, 0);
-- returns: nothing
-- must be: 0

CREATE TABLE customer(id INT, name VARCHAR(20));
CREATE TABLE bill(customer INT, amount INT);
INSERT INTO customer VALUES (1, 'Ada'), (2, 'Bob');
INSERT INTO bill VALUES (1, 5);
SELECT name FROM customer LEFT JOIN bill ON bill.customer = customer.id WHERE FIELD(amount, 5, 6) = 0;
-- returns: nothing
-- must be: 'Bob'
