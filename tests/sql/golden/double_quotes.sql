-- double quotes name columns, tables and aliases, as in standard SQL
SELECT "nope" FROM trades
=>
SqlError: line 2, column 8: there is no column 'nope': double quotes quote names; if this is text, write 'nope' in single quotes; valid: price, qty, symbol, ts
  SELECT "nope" FROM trades
         ^
----------
SELECT symbol FROM trades WHERE symbol = "AAPL"
=>
SqlError: line 1, column 42: there is no column 'AAPL': double quotes quote names; if this is text, write 'AAPL' in single quotes; valid: price, qty, symbol, ts
  SELECT symbol FROM trades WHERE symbol = "AAPL"
                                           ^
----------
SELECT symbol FROM trades WHERE symbol LIKE "it's%"
=>
SqlError: line 1, column 45: there is no column 'it's%': double quotes quote names; if this is text, write 'it''s%' in single quotes; valid: price, qty, symbol, ts
  SELECT symbol FROM trades WHERE symbol LIKE "it's%"
                                              ^
----------
SELECT symbol FROM trades WHERE symbol IN ("a", 'b')
=>
SqlError: line 1, column 44: there is no column 'a': double quotes quote names; if this is text, write 'a' in single quotes; valid: price, qty, symbol, ts
  SELECT symbol FROM trades WHERE symbol IN ("a", 'b')
                                             ^
----------
SELECT t."nope" FROM trades t
=>
SqlError: line 1, column 10: there is no column 'nope' in 't'; valid: price, qty, symbol, ts
  SELECT t."nope" FROM trades t
           ^
----------
SELECT price FROM trades WHERE ts > DATE "2020-01-01"
=>
SqlError: line 1, column 42: unexpected '2020-01-01' (text needs single quotes)
  SELECT price FROM trades WHERE ts > DATE "2020-01-01"
                                           ^
----------
SELECT price FROM trades [RANGE "5 seconds"]
=>
SqlError: line 1, column 33: expected a duration such as 10 SECONDS, got '5 seconds' (text needs single quotes)
  SELECT price FROM trades [RANGE "5 seconds"]
                                  ^
----------
CREATE STREAM x (ts TIMESTAMP) TIMESTAMP BY ts WITH (source = "csv")
=>
SqlError: line 1, column 63: option 'source' takes a 'text', a number, TRUE or FALSE, got 'csv' (text needs single quotes)
  CREATE STREAM x (ts TIMESTAMP) TIMESTAMP BY ts WITH (source = "csv")
                                                                ^
----------
SELECT "symbol FROM trades
=>
SqlError: line 1, column 8: this quote has no end: " is missing
  SELECT "symbol FROM trades
         ^
----------
