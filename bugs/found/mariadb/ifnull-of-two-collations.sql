-- title: IFNULL of one text with two collations ends the server
-- class: crash
-- oracle: tlp-where
-- on: mariadb@10.5
-- fixed: 11.8.9
-- why: Two explicit collations do not go together, so the query must fail with "Illegal mix of collations", as it does without IFNULL.
--   11.4.5 and 11.8.6 had the bug, too.
-- second opinion: MariaDB 10.11.18 and 11.8.9, and MySQL 9.7.4
-- reports: not searched

CREATE TABLE t5(c0 VARCHAR(20));
INSERT INTO t5 VALUES ('a');
SELECT IFNULL(c0 COLLATE utf8mb4_unicode_ci, c0 COLLATE utf8mb4_general_ci) < 'a' FROM t5;
-- returns: crash
-- must be: error
