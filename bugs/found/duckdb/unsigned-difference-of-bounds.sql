-- title: A comparison of a negative difference with the largest UBIGINT is an internal error
-- class: internal error
-- oracle: storage
-- on: duckdb@2.0.0
-- why: 0 - 1 has no UBIGINT, so the query may fail for that; but the optimizer meets the number before, and cannot store it.
-- second opinion: none: another engine has no such type
-- reports: not searched

SELECT 0 HAVING 0 - CAST(1 AS UBIGINT) IS NOT DISTINCT FROM CAST('18446744073709551615' AS UBIGINT);
-- returns: error: INTERNAL Error: Information loss on integer cast
-- must be: error
