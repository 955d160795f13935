-- title: IFNULL of a decimal and a text loses the last digit of a negative number
-- fails: tidb@7.5.0
-- caught: constraints
-- newest: constraints, epsc

CREATE TABLE account(balance DECIMAL NOT NULL);
INSERT INTO account VALUES (-9876543210);
SELECT IFNULL(balance, 'none') FROM account;
