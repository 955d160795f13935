-- title: An anti join with an empty table keeps no row
-- link: https://github.com/duckdb/duckdb/issues/10406
-- fails: duckdb@0.9.2
-- uncaught: ANTI JOIN is not in our AST

CREATE TABLE stock(id BIGINT);
CREATE TABLE sold(id BIGINT);
INSERT INTO stock VALUES (5), (6);
SELECT stock.id FROM stock ANTI JOIN sold ON stock.id = sold.id;
