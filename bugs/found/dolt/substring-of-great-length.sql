-- title: SUBSTRING with a great length panics
-- class: internal error
-- oracle: crash
-- on: dolt@1.83.2
-- why: A length beyond the end of the text means the rest of it.
-- second opinion: MySQL 9.7.4
-- reports: not searched

SELECT SUBSTRING('abc', 2, 9223372036854775807);
-- returns: error: slice bounds out of range
-- must be: 'bc'
