-- title: AND behind IS DISTINCT FROM is read as a part of its right operand
-- class: wrong result
-- oracle: identities
-- on: datafusion@55.2.0
-- why: AND binds less tightly than IS DISTINCT FROM, and nothing AND FALSE is TRUE.
-- second opinion: PostgreSQL 18.6, DuckDB 2.0.0
-- reports: not searched

SELECT NULL IS DISTINCT FROM TRUE AND FALSE;
-- returns: true
-- must be: false
