SELECT prise FROM trades
=>
SqlError: line 1, column 8: there is no column 'prise'; did you mean 'price'? valid: price, qty, symbol, ts
  SELECT prise FROM trades
         ^
----------
SELECT t.prise FROM trades AS t
=>
SqlError: line 1, column 10: there is no column 'prise' in 't'; did you mean 'price'? valid: price, qty, symbol, ts
  SELECT t.prise FROM trades AS t
           ^
----------
SELECT q.price FROM trades AS t
=>
SqlError: line 1, column 8: 'q' is not in FROM; valid: t
  SELECT q.price FROM trades AS t
         ^
----------
SELECT trades.price FROM trades AS t
=>
SqlError: line 1, column 8: 'trades' is not in FROM; valid: t
  SELECT trades.price FROM trades AS t
         ^
----------
SELECT symbol FROM trades [NOW], quotes [NOW]
=>
SqlError: line 1, column 8: column 'symbol' is ambiguous; valid: trades.symbol, quotes.symbol
  SELECT symbol FROM trades [NOW], quotes [NOW]
         ^
----------
SELECT t.price FROM trades AS t, quotes AS t WINDOW 1 SECOND
=>
SqlError: line 1, column 34: two FROM items are named 't'; rename one with AS
  SELECT t.price FROM trades AS t, quotes AS t WINDOW 1 SECOND
                                   ^
----------
SELECT price AS p, p + 1 FROM trades
=>
no error
----------
SELECT price
FROM trades
WHERE symbol > 3
=>
SqlError: line 3, column 7: STRING and INT have no common type; CAST one of them to the other
  WHERE symbol > 3
        ^
----------
SELECT price FROM trades WHERE price
=>
SqlError: line 1, column 32: expected a condition, got DOUBLE
  SELECT price FROM trades WHERE price
                                 ^
----------
SELECT price + symbol FROM trades
=>
SqlError: line 1, column 8: + does not take (DOUBLE, STRING); valid: number + number or timestamp + interval or date + days
  SELECT price + symbol FROM trades
         ^
----------
SELECT TIMESTAMP 'yesterday' FROM trades
=>
SqlError: line 1, column 18: 'yesterday' is not a valid TIMESTAMP
  SELECT TIMESTAMP 'yesterday' FROM trades
                   ^
----------
SELECT CAST(price AS MONEY) FROM trades
=>
SqlError: line 1, column 22: expected a type; valid: ARRAY, BIGINT, BINARY, BOOLEAN, CHAR, DATE, DECIMAL, DOUBLE, FLOAT, INT, INTEGER, LONG, MAP, REAL, SMALLINT, STRING, STRUCT, TIMESTAMP, TINYINT, VARCHAR
  SELECT CAST(price AS MONEY) FROM trades
                       ^
----------
SELECT 99999999999999999999 FROM trades
=>
SqlError: line 1, column 8: 99999999999999999999 does not fit BIGINT; for a DOUBLE write a point behind it
  SELECT 99999999999999999999 FROM trades
         ^
----------
SELECT price AS _ts FROM trades
=>
SqlError: line 1, column 1: output column '_ts': names with the prefixes _op, _ts, _exp are reserved; rename it with AS
  SELECT price AS _ts FROM trades
  ^
----------
SELECT t.price FROM trades t JOIN quotes q USING (price) WINDOW 1 SECOND
=>
SqlError: line 1, column 51: there is no column 'price'; valid: bid, size, symbol, ts
  SELECT t.price FROM trades t JOIN quotes q USING (price) WINDOW 1 SECOND
                                                    ^
----------
SELECT x FROM trades AS t (x)
=>
SqlError: line 1, column 28: 1 column aliases for 4 columns
  SELECT x FROM trades AS t (x)
                             ^
----------
SELECT price FROM trades UNION ALL SELECT price, qty FROM trades
=>
SqlError: line 1, column 36: UNION of 1 and 2 columns; the numbers must agree
  SELECT price FROM trades UNION ALL SELECT price, qty FROM trades
                                     ^
----------
SELECT price FROM trades UNION ALL SELECT symbol FROM trades
=>
SqlError: line 1, column 36: column 1 of UNION: DOUBLE and STRING have no common type; CAST one of them to the other
  SELECT price FROM trades UNION ALL SELECT symbol FROM trades
                                     ^
----------
SELECT price FROM trades WHERE COUNT(*) > 1
=>
SqlError: line 1, column 32: aggregate COUNT is not allowed in WHERE: write HAVING behind GROUP BY
  SELECT price FROM trades WHERE COUNT(*) > 1
                                 ^
----------
SELECT COUNT(*) FROM trades [NOW] GROUP BY COUNT(*)
=>
SqlError: line 1, column 44: aggregate COUNT is not allowed in GROUP BY
  SELECT COUNT(*) FROM trades [NOW] GROUP BY COUNT(*)
                                             ^
----------
SELECT MAX(COUNT(*)) FROM trades [NOW]
=>
SqlError: line 1, column 12: aggregate COUNT is not allowed in an aggregate
  SELECT MAX(COUNT(*)) FROM trades [NOW]
             ^
----------
SELECT symbol, price FROM trades [NOW] GROUP BY symbol
=>
SqlError: line 1, column 16: column 'price' is neither in GROUP BY nor inside an aggregate: add it to GROUP BY, or write MAX(price) or the like; grouped by: symbol
  SELECT symbol, price FROM trades [NOW] GROUP BY symbol
                 ^
----------
SELECT *, COUNT(*) FROM trades [NOW] GROUP BY symbol
=>
SqlError: line 1, column 8: column 'ts' is neither in GROUP BY nor inside an aggregate: add it to GROUP BY, or write MAX(ts) or the like; grouped by: symbol
  SELECT *, COUNT(*) FROM trades [NOW] GROUP BY symbol
         ^
----------
SELECT symbol FROM trades [NOW] GROUP BY symbol HAVING price > 1
=>
SqlError: line 1, column 56: column 'price' is neither in GROUP BY nor inside an aggregate: add it to GROUP BY, or write MAX(price) or the like; grouped by: symbol
  SELECT symbol FROM trades [NOW] GROUP BY symbol HAVING price > 1
                                                         ^
----------
SELECT symbol FROM trades [NOW] GROUP BY 2
=>
SqlError: line 1, column 42: GROUP BY 2: the select list has columns 1 to 1
  SELECT symbol FROM trades [NOW] GROUP BY 2
                                           ^
----------
SELECT COUNT(price, qty) FROM trades [NOW]
=>
no error
----------
SELECT SUM(symbol) FROM trades [NOW]
=>
SqlError: line 1, column 8: sum needs numbers, not STRING; CAST the argument
  SELECT SUM(symbol) FROM trades [NOW]
         ^
----------
SELECT UPPER(symbol) FILTER (WHERE price > 1) FROM trades
=>
SqlError: line 1, column 8: FILTER is allowed behind aggregates only, not behind UPPER
  SELECT UPPER(symbol) FILTER (WHERE price > 1) FROM trades
         ^
----------
SELECT symbol FROM companies [NOW]
=>
SqlError: line 1, column 30: 'companies' is a table: only streams have windows
  SELECT symbol FROM companies [NOW]
                               ^
----------
SELECT c.sector FROM trades [PARTITION BY symbl ROWS 2] t, companies c
=>
SqlError: line 1, column 43: there is no column 'symbl' in 'trades'; did you mean 'symbol'? valid: price, qty, symbol, ts
  SELECT c.sector FROM trades [PARTITION BY symbl ROWS 2] t, companies c
                                            ^
----------
SELECT COUNT(*) FROM trades
=>
SqlError: line 1, column 22: an aggregate needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT COUNT(*) FROM trades
                       ^
----------
SELECT symbol, COUNT(*) FROM trades GROUP BY symbol
=>
SqlError: line 1, column 30: GROUP BY needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT symbol, COUNT(*) FROM trades GROUP BY symbol
                               ^
----------
SELECT DISTINCT symbol FROM trades
=>
SqlError: line 1, column 29: DISTINCT needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT DISTINCT symbol FROM trades
                              ^
----------
SELECT symbol FROM trades UNION SELECT symbol FROM quotes [NOW]
=>
SqlError: line 1, column 20: UNION without ALL needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT symbol FROM trades UNION SELECT symbol FROM quotes [NOW]
                     ^
----------
SELECT t.price FROM trades [NOW] t, quotes q WHERE t.symbol = q.symbol
=>
SqlError: line 1, column 37: a join needs a window on stream 'quotes'; write quotes [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS. Or bound the times of the rows that are joined, as in t.ts <= q.ts + INTERVAL '10' SECOND
  SELECT t.price FROM trades [NOW] t, quotes q WHERE t.symbol = q.symbol
                                      ^
----------
SELECT * FROM averages
=>
SqlError: line 11, column 64: GROUP BY needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  CREATE VIEW averages AS SELECT symbol, AVG(price) AS mean FROM trades GROUP BY symbol;
                                                                 ^
----------
SELECT price FROM trades [NOW] WINDOW 1 SECOND
=>
SqlError: line 1, column 32: this window applies to no stream: every stream here has its own, or is outside
  SELECT price FROM trades [NOW] WINDOW 1 SECOND
                                 ^
----------
SELECT price FROM cheap [NOW]
=>
SqlError: line 1, column 25: this window applies to no stream: every stream here has its own, or is outside
  SELECT price FROM cheap [NOW]
                          ^
----------
