CREATE TABLE reading (day INT, place TEXT, value INT, UNIQUE (day, place));
INSERT INTO reading VALUES (1, 'a', 5), (2, 'a', 3), (3, 'a', NULL), (1, 'b', 8), (2, 'b', 8), (4, 'b', 1);
CREATE VIEW daily AS SELECT day AS d, count(value) AS n, total(value) AS t FROM reading GROUP BY day;
SELECT day, place, sum(value) OVER (PARTITION BY place ORDER BY day ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM reading;
SELECT place, day, row_number() OVER (PARTITION BY place ORDER BY day DESC) AS r FROM reading WHERE value IS NOT NULL;
SELECT place, max(value) FILTER (WHERE day > 1) OVER w, count(*) OVER w FROM reading WINDOW w AS (PARTITION BY place);
SELECT d, n FROM daily WHERE t > 5 AND n IN (SELECT count(*) FROM reading GROUP BY place);
SELECT day FROM reading WHERE value > (SELECT avg(value) FROM reading AS other WHERE other.place = reading.place);
WITH first (p, d) AS (SELECT place, min(day) FROM reading GROUP BY place) SELECT r.place, r.value FROM reading AS r JOIN first ON r.place = p AND r.day = d;
