-- title: DISTINCT over a window function drops an outer join whose rows the function counts
-- link: bugs/tidb.md
-- fails: tidb@8.5.6
-- caught: eet
-- newest: eet

CREATE TABLE guest(age INT);
CREATE TABLE dish(price INT);
INSERT INTO guest VALUES (30);
INSERT INTO dish VALUES (4), (9);
SELECT DISTINCT SUM(guest.age + 1) OVER (PARTITION BY guest.age) FROM guest LEFT JOIN dish ON dish.price > 0;
