-- title: JSON_OBJECT with JSON_COMPACT of an empty text is not valid JSON
-- class: wrong result
-- oracle: edc
-- on: mariadb@11.8.9
-- since: 10.11.18 at the latest
-- why: An empty text is not JSON, so JSON_COMPACT must be NULL or the result must hold something for the key.
-- second opinion: MariaDB's own JSON_VALID
-- reports: not searched

SELECT JSON_OBJECT('a', JSON_COMPACT(''));
-- returns: '{"a": }'
-- must be: '{"a": null}'
SELECT JSON_VALID(JSON_OBJECT('a', JSON_COMPACT('')));
-- returns: 0
-- must be: 1
