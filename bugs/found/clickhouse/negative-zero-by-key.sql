-- title: ceil(-0.75) is in a list of 0.0 when it is read by a key and not in it when it is computed
-- class: wrong result
-- oracle: edc
-- on: clickhouse@26.9
-- why: ceil(-0.75) is -0.0, which is equal to 0.0, so it is in the list.
-- second opinion: ClickHouse itself for `ceil(-0.75) = 0.0`
-- reports: https://github.com/ClickHouse/ClickHouse/pull/115970, open; of JOIN it is https://github.com/ClickHouse/ClickHouse/issues/70639

SELECT ceil(-0.75) = 0.0;
-- returns: 1
SELECT ceil(-0.75) IN (0.0);
-- returns: 0
-- must be: 1
