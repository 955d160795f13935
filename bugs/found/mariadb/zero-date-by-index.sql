-- title: With an index, an all-zero DATETIME is not <=> an empty text
-- class: wrong result
-- oracle: index
-- on: mariadb@11.8.9
-- settings: the zero date needs INSERT IGNORE, or an `sql_mode` without NO_ZERO_DATE
-- why: Without the index the condition is TRUE. An index must not change that.
-- second opinion: MariaDB itself without the index
-- reports: not searched
-- arguable: An empty text is not a date. But an index must not change what it is equal to.

CREATE TABLE t8(c0 DATETIME);
INSERT IGNORE INTO t8 VALUES (0);
SELECT c0 FROM t8 WHERE c0 <=> '';
-- returns: 0000-00-00 00:00:00
CREATE INDEX i8 ON t8(c0);
SELECT c0 FROM t8 WHERE c0 <=> '';
-- returns: nothing
-- must be: 0000-00-00 00:00:00
