-- title: A hidden column of dbstat is equal to NULL
-- link: https://www.sqlite.org/src/tktview?name=727074e2ae
-- fails: sqlite@3.30.1
-- uncaught: no release fails: the column came with 3.31.0, in which it was mended

CREATE TABLE filler(x);
CREATE VIRTUAL TABLE pages USING dbstat;
SELECT name FROM pages WHERE pages.aggregate = NULL;
