-- title: LIKE with a parameter cannot be prepared
-- class: internal error
-- oracle: epsc
-- on: h2@2.5.252
-- since: 2.1.214, the oldest version that was tried
-- why: The statement is valid. It fails with the parameter on either side of LIKE; with `=` it is prepared.
-- second opinion: PostgreSQL 18.6
-- reports: not searched

PREPARE p0(VARCHAR) AS SELECT 1 WHERE 'a' LIKE $1;
-- returns: error: java.lang.IndexOutOfBoundsException
-- must be: ok
