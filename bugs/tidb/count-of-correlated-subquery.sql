-- title: A count of no rows that names a count of no rows around it keeps no row
-- link: bugs/tidb.md
-- fails: tidb@7.5.0
-- caught: eet, plan
-- newest: eet, plan

CREATE TABLE shelf(height INT);
CREATE TABLE book(pages INT);
SELECT sum.shelves FROM (SELECT COUNT(*) AS shelves FROM shelf) AS sum WHERE (SELECT COUNT(*) FROM book WHERE sum.shelves = 0) = 0;
