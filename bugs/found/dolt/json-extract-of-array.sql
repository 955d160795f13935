-- title: JSON_EXTRACT of a member of an array panics
-- class: internal error
-- oracle: crash
-- on: dolt@1.83.2
-- why: An array has no member called a, so both paths find nothing.
-- second opinion: MySQL 9.7.4
-- reports: not searched

SELECT JSON_EXTRACT('[0,0,1]', '$.a', '$.a[1]');
-- returns: error: nil pointer dereference
-- must be: NULL
