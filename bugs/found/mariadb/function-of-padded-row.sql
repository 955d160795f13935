-- title: A condition on FIELD or MAKE_SET of a padded row turns an outer join into an inner one
-- class: wrong result
-- oracle: norec, tlp-where
-- on: mariadb@11.8.9
-- why: FIELD(NULL, 0) is 0 and MAKE_SET leaves NULL out, so the padded row meets the conditions. MariaDB assumes that a
--   function of NULL is NULL. The same happens with CHAR, SHA2 (its length), JSON_ARRAY, JSON_OBJECT, JSON_MERGE_PATCH,
--   IS_IPV4_COMPAT, ST_DISTANCE_SPHERE, ST_LINEFROMTEXT and ST_MPOLYFROMTEXT (their last arguments), CONCAT_OPERATOR_ORACLE and
--   REPLACE_ORACLE: none of them is NULL when an argument is NULL.
-- second opinion: MariaDB itself, with the condition in the select list
-- reports: none found

CREATE TABLE t0(c0 INT);
INSERT INTO t0 VALUES (0);
SELECT NOT FIELD(a.c0, 0), MAKE_SET(1, 'x', a.c0) = 'x', JSON_ARRAY(a.c0) = '[null]' FROM t0 LEFT JOIN t0 AS a ON 0;
-- returns: (1, 1, 1)
SELECT 0 FROM t0 LEFT JOIN t0 AS a ON 0 WHERE NOT FIELD(a.c0, 0);
-- returns: nothing
-- must be: 0
SELECT 0 FROM t0 LEFT JOIN t0 AS a ON 0 WHERE MAKE_SET(1, 'x', a.c0) = 'x';
-- returns: nothing
-- must be: 0
SELECT 0 FROM t0 LEFT JOIN t0 AS a ON 0 WHERE JSON_ARRAY(a.c0) = '[null]';
-- returns: nothing
-- must be: 0

CREATE TABLE customer(id INT, name VARCHAR(20));
CREATE TABLE bill(customer INT, amount INT);
INSERT INTO customer VALUES (1, 'Ada'), (2, 'Bob');
INSERT INTO bill VALUES (1, 5);
SELECT name FROM customer LEFT JOIN bill ON bill.customer = customer.id WHERE FIELD(amount, 5, 6) = 0;
-- returns: nothing
-- must be: 'Bob'
