CREATE TABLE sale (shop Int32 NOT NULL, item String, price Decimal(8, 2) NOT NULL, sold Date) ENGINE = MergeTree ORDER BY (shop, price);
INSERT INTO sale VALUES (1, 'pen', 1.50, '2021-03-01'), (1, 'ink', 7.25, NULL), (2, 'pen', 1.75, '2020-02-29'), (2, NULL, 0.00, '2021-03-01');
CREATE TABLE shop (id Int32, town String) ENGINE = Memory;
INSERT INTO shop VALUES (1, 'north'), (2, NULL), (3, 'south');
CREATE VIEW cheap AS SELECT shop AS s, item AS i FROM sale WHERE price < 2;
SELECT shop, count(*) AS n FROM sale GROUP BY shop HAVING sum(price) > 2 ORDER BY shop, n;
SELECT s.town, c.i FROM shop AS s LEFT JOIN cheap AS c ON c.s = s.id WHERE s.town IS NOT NULL OR c.i = 'pen';
SELECT item FROM sale WHERE shop IN (SELECT id FROM shop WHERE town IS NOT NULL) AND price > 1;
SELECT id FROM shop UNION ALL SELECT shop FROM sale WHERE sold IS NULL;
