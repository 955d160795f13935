-- title: BETWEEN over types that do not go together is an internal error
-- class: internal error
-- oracle: crash
-- on: datafusion@55.2.0
-- why: The query is not valid. But the message calls it a bug of DataFusion and asks to report it, where a comparison has a
--   planning error.
-- second opinion: DataFusion itself, for `0 <= TRUE`
-- reports: https://github.com/apache/datafusion/issues/3646, closed
-- arguable: Only the kind of the error is wrong.

SELECT 0 BETWEEN 0 AND TRUE;
-- returns: error: Failed to coerce types Int64 and Boolean in BETWEEN expression
-- must be: error
