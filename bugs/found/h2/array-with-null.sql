-- title: An array with NULL in it cannot be sent
-- class: internal error
-- oracle: crash
-- on: h2@2.5.252
-- since: 2.1.214, the oldest version that was tried
-- settings: the server for PostgreSQL's protocol
-- why: The server fails where it writes the array for PostgreSQL's protocol.
-- second opinion: PostgreSQL 18.6
-- reports: not searched

SELECT ARRAY[1, NULL];
-- returns: error: java.lang.NullPointerException
-- must be: {1,NULL}
