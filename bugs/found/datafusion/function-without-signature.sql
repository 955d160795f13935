-- title: A function that takes no such argument is an internal error
-- class: internal error
-- oracle: crash
-- on: datafusion@55.2.0
-- why: The query is not valid. But the message calls it a bug of DataFusion and asks to report it, where other functions have
--   a planning error.
-- second opinion: DataFusion itself, for other functions
-- reports: none found
-- arguable: Only the kind of the error is wrong.

CREATE TABLE t0(c0 INT);
SELECT 0 FROM t0 AS a0 JOIN t0 ON substr('', CAST(a0.c0 AS REAL));
-- returns: error: Function 'substr' failed to match any signature
-- must be: error
