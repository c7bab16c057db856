SELECT t.price FROM trades [NOW] t WHERE price > (SELECT bid FROM quotes [NOW])
=>
UnsupportedError: line 1, column 51: a sub-query in an expression must have one row, and this one may have several: write an aggregate, as in (SELECT MAX(x) FROM ...), or join it in FROM
  SELECT t.price FROM trades [NOW] t WHERE price > (SELECT bid FROM quotes [NOW])
                                                    ^
----------
SELECT t.price FROM trades [NOW] t WHERE price > (SELECT bid FROM quotes [NOW] q WHERE q.symbol = t.symbol)
=>
UnsupportedError: line 1, column 99: 't.symbol' is a column of an enclosing SELECT, which a sub-query that may have several rows cannot read: write an aggregate, as in (SELECT MAX(x) FROM ...), or join it in FROM
  SELECT t.price FROM trades [NOW] t WHERE price > (SELECT bid FROM quotes [NOW] q WHERE q.symbol = t.symbol)
                                                                                                    ^
----------
SELECT t.price FROM trades [NOW] t WHERE price > (SELECT MAX(bid) FROM quotes [NOW] q WHERE q.bid < t.price)
=>
UnsupportedError: line 1, column 51: (q.bid < t.price): a sub-query with an aggregate can read columns of the enclosing SELECT in equalities only, as in WHERE b.k = a.k: join the two in FROM, and GROUP BY the columns of the row
  SELECT t.price FROM trades [NOW] t WHERE price > (SELECT MAX(bid) FROM quotes [NOW] q WHERE q.bid < t.price)
                                                    ^
----------
SELECT t.price FROM trades [NOW] t WHERE price > (SELECT MAX(bid), MIN(bid) FROM quotes [NOW] q)
=>
SqlError: line 1, column 51: a sub-query in an expression has one column, this one has 2
  SELECT t.price FROM trades [NOW] t WHERE price > (SELECT MAX(bid), MIN(bid) FROM quotes [NOW] q)
                                                    ^
----------
SELECT t.price FROM trades [NOW] t WHERE price > (SELECT MAX(bid) FROM quotes [NOW] q GROUP BY symbol)
=>
UnsupportedError: line 1, column 96: a sub-query in an expression must have one row, and this one may have several: write an aggregate, as in (SELECT MAX(x) FROM ...), or join it in FROM
  SELECT t.price FROM trades [NOW] t WHERE price > (SELECT MAX(bid) FROM quotes [NOW] q GROUP BY symbol)
                                                                                                 ^
----------
SELECT t.price FROM trades [NOW] t WHERE price > (SELECT MAX(bid + t.price) FROM quotes [NOW] q)
=>
UnsupportedError: line 1, column 51: MAX((q.bid + t.price)): an aggregate of a sub-query that reads columns of the enclosing SELECT is not supported: join the two in FROM
  SELECT t.price FROM trades [NOW] t WHERE price > (SELECT MAX(bid + t.price) FROM quotes [NOW] q)
                                                    ^
----------
SELECT t.price FROM trades [NOW] t WHERE price > (SELECT MAX(bid) + symbol FROM quotes [NOW] q)
=>
SqlError: line 1, column 58: + does not take (DOUBLE, STRING); valid: number + number or timestamp + interval or date + days
  SELECT t.price FROM trades [NOW] t WHERE price > (SELECT MAX(bid) + symbol FROM quotes [NOW] q)
                                                           ^
----------
SELECT t.price FROM trades [NOW] t WHERE price > (SELECT MAX(bid) FROM quotes [NOW] q UNION ALL SELECT 3.0 AS x FROM quotes [NOW])
=>
UnsupportedError: line 1, column 51: a sub-query in an expression must have one row, and this one may have several: write an aggregate, as in (SELECT MAX(x) FROM ...), or join it in FROM
  SELECT t.price FROM trades [NOW] t WHERE price > (SELECT MAX(bid) FROM quotes [NOW] q UNION ALL SELECT 3.0 AS x FROM quotes [NOW])
                                                    ^
----------
SELECT t.price FROM trades t WHERE price > (SELECT MAX(bid) FROM quotes [NOW] q)
=>
SqlError: line 1, column 21: a sub-query needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT t.price FROM trades t WHERE price > (SELECT MAX(bid) FROM quotes [NOW] q)
                      ^
----------
SELECT t.price FROM trades [NOW] t WHERE price > (SELECT MAX(bid) FROM quotes)
=>
SqlError: line 1, column 72: an aggregate needs a window on stream 'quotes'; write quotes [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT t.price FROM trades [NOW] t WHERE price > (SELECT MAX(bid) FROM quotes)
                                                                         ^
----------
SELECT SUM((SELECT MAX(bid) FROM quotes [NOW])) AS s FROM trades [NOW] t
=>
no error
----------
SELECT COUNT(*) AS n FROM trades [NOW] t GROUP BY (SELECT MAX(bid) FROM quotes [NOW])
=>
no error
----------
SELECT t.price FROM trades [NOW] t LEFT JOIN quotes [NOW] q ON t.symbol = q.symbol AND q.bid > (SELECT MIN(bid) FROM quotes [NOW])
=>
no error
----------
SELECT t.price FROM trades [NOW] t WHERE (SELECT MAX(bid) FROM quotes [NOW]) IN (SELECT bid FROM quotes [NOW])
=>
UnsupportedError: line 1, column 43: a sub-query in the value before IN is not supported: compute it in a query in FROM
  SELECT t.price FROM trades [NOW] t WHERE (SELECT MAX(bid) FROM quotes [NOW]) IN (SELECT bid FROM quotes [NOW])
                                            ^
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] q WHERE t.price > (SELECT MIN(bid) FROM quotes [NOW]))
=>
UnsupportedError: line 1, column 50: (t.price > (SELECT MIN(quotes.bid) ...)): a condition of a sub-query that has a sub-query can read no columns of the enclosing SELECT: compute the inner one in FROM
  SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] q WHERE t.price > (SELECT MIN(bid) FROM quotes [NOW]))
                                                   ^
----------
SELECT t.price FROM trades [NOW] t WHERE price IN (SELECT bid, ask FROM quotes [NOW]) OR price > 3
=>
SqlError: line 1, column 64: there is no column 'ask'; valid: bid, price, qty, size, symbol, ts
  SELECT t.price FROM trades [NOW] t WHERE price IN (SELECT bid, ask FROM quotes [NOW]) OR price > 3
                                                                 ^
----------
SELECT symbol, COUNT(*) AS n FROM trades [NOW] t GROUP BY symbol HAVING COUNT(*) > (SELECT COUNT(*) FROM quotes [NOW] q WHERE q.bid = t.price)
=>
SqlError: line 1, column 85: column 't.price' is neither in GROUP BY nor inside an aggregate: add it to GROUP BY, or write MAX(t.price) or the like; grouped by: symbol
  SELECT symbol, COUNT(*) AS n FROM trades [NOW] t GROUP BY symbol HAVING COUNT(*) > (SELECT COUNT(*) FROM quotes [NOW] q WHERE q.bid = t.price)
                                                                                      ^
----------
SELECT t.price > ANY (SELECT bid FROM quotes [NOW]) AS x FROM trades [NOW] t
=>
no error
----------
SELECT t.price FROM trades [NOW] t, LATERAL (SELECT bid FROM quotes [NOW] q WHERE q.symbol = t.symbol) l
=>
no error
----------
SELECT t.price FROM trades [NOW] t, LATERAL (SELECT MAX(bid) AS b FROM quotes [NOW] q WHERE q.symbol = t.symbol GROUP BY q.symbol) l
=>
no error
----------
SELECT t.price FROM trades [NOW] t LEFT JOIN LATERAL (SELECT MAX(bid) AS b FROM quotes [NOW] q WHERE q.symbol = t.symbol) l ON l.b > 3
=>
UnsupportedError: line 1, column 54: write CROSS JOIN LATERAL (SELECT ...) AS x, or LEFT JOIN LATERAL (...) AS x ON TRUE
  SELECT t.price FROM trades [NOW] t LEFT JOIN LATERAL (SELECT MAX(bid) AS b FROM quotes [NOW] q WHERE q.symbol = t.symbol) l ON l.b > 3
                                                       ^
----------
SELECT l.b FROM LATERAL (SELECT MAX(bid) AS b FROM quotes [NOW] q) l
=>
UnsupportedError: line 1, column 25: LATERAL is not supported here
  SELECT l.b FROM LATERAL (SELECT MAX(bid) AS b FROM quotes [NOW] q) l
                          ^
----------
