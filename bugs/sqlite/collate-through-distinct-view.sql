-- title: A view with DISTINCT passes a collation to the wrong operand
-- link: https://www.sqlite.org/src/tktview?name=18458b1ad6
-- fails: sqlite@3.29.0
-- uncaught: a view with DISTINCT is not compared where types are dynamic: the affinity of its columns is not defined

CREATE TABLE pet(name COLLATE NOCASE);
INSERT INTO pet VALUES ('Q');
CREATE VIEW pairs(name, letter) AS SELECT DISTINCT pet.name, 'p' FROM pet;
SELECT pairs.letter >= pairs.name FROM pairs;
