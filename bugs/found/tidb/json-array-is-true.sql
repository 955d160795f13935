-- title: A JSON array is TRUE in WHERE and not IS TRUE
-- class: wrong result
-- oracle: norec
-- on: tidb@8.5.6
-- since: 7.5.0, the oldest version that was tried
-- why: WHERE keeps the row because the value is TRUE, so IS TRUE must be 1. TiDB also says that the value IS FALSE, and that its NOT is
--   FALSE.
-- second opinion: MySQL 9.7 gives 1 for both
-- reports: not searched

SELECT COUNT(*) FROM (SELECT 1) AS a WHERE JSON_ARRAY(1);
-- returns: 1
SELECT JSON_ARRAY(1) IS TRUE;
-- returns: 0
-- must be: 1
