-- title: GROUP BY the position of a column fails once that column is a parameter
-- fails: tidb@7.5.0
-- uncaught: parameters are cast, because their types follow from what is around them

CREATE TABLE choice(n DECIMAL);
INSERT INTO choice VALUES (3);
SELECT 5 FROM choice WHERE n GROUP BY 1;
