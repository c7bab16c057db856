SELECT price FROM trades WHERE EXISTS (SELECT 1 FROM quotes)
=>
SqlError: line 1, column 19: EXISTS needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS; or bound the times of the rows that match on both sides, as in WHERE b.k = a.k AND b.ts BETWEEN a.ts - INTERVAL '5' MINUTE AND a.ts
  SELECT price FROM trades WHERE EXISTS (SELECT 1 FROM quotes)
                    ^
----------
SELECT price FROM trades [NOW] WHERE price IN (SELECT bid FROM quotes)
=>
SqlError: line 1, column 64: IN needs a window on stream 'quotes'; write quotes [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS; or bound the times of the rows that match on both sides, as in WHERE b.k = a.k AND b.ts BETWEEN a.ts - INTERVAL '5' MINUTE AND a.ts
  SELECT price FROM trades [NOW] WHERE price IN (SELECT bid FROM quotes)
                                                                 ^
----------
SELECT price FROM trades [NOW] WHERE price NOT IN (SELECT bid FROM quotes [NOW])
=>
no error
----------
SELECT price FROM trades [NOW] WHERE NOT (price IN (SELECT bid FROM quotes [NOW]))
=>
no error
----------
SELECT price FROM trades [NOW] WHERE price > 1 OR EXISTS (SELECT 1 FROM quotes [NOW])
=>
no error
----------
SELECT price FROM trades [NOW] WHERE price > 1 OR price IN (SELECT bid FROM quotes [NOW])
=>
no error
----------
SELECT price FROM trades [NOW] WHERE NOT (price > 1 AND EXISTS (SELECT 1 FROM quotes [NOW]))
=>
no error
----------
SELECT EXISTS (SELECT 1 FROM quotes [NOW]) FROM trades [NOW]
=>
no error
----------
SELECT symbol FROM trades [NOW] GROUP BY symbol HAVING EXISTS (SELECT 1 FROM quotes [NOW])
=>
no error
----------
SELECT t.price FROM trades [NOW] t JOIN quotes [NOW] q ON EXISTS (SELECT 1 FROM orders [NOW])
=>
no error
----------
SELECT t.price FROM trades [NOW] t WHERE price = ANY (SELECT bid FROM quotes [NOW])
=>
no error
----------
SELECT t.price FROM trades [NOW] t WHERE price > ALL (SELECT bid FROM quotes [NOW])
=>
no error
----------
SELECT price FROM trades [NOW] WHERE price IN (SELECT bid, size FROM quotes [NOW])
=>
SqlError: line 1, column 48: IN takes a sub-query with one column, this one has 2
  SELECT price FROM trades [NOW] WHERE price IN (SELECT bid, size FROM quotes [NOW])
                                                 ^
----------
SELECT price FROM trades [NOW] WHERE price IN (SELECT * FROM averages [NOW])
=>
SqlError: line 1, column 48: IN takes a sub-query with one column, this one has 2
  SELECT price FROM trades [NOW] WHERE price IN (SELECT * FROM averages [NOW])
                                                 ^
----------
SELECT price FROM trades [NOW] WHERE symbol IN (SELECT bid FROM quotes [NOW])
=>
SqlError: line 1, column 38: STRING and DOUBLE have no common type; CAST one of them to the other
  SELECT price FROM trades [NOW] WHERE symbol IN (SELECT bid FROM quotes [NOW])
                                       ^
----------
SELECT price FROM trades [NOW] WHERE symbol IN (SELECT COUNT(*) FROM quotes [NOW])
=>
SqlError: line 1, column 38: STRING and BIGINT have no common type; CAST one of them to the other
  SELECT price FROM trades [NOW] WHERE symbol IN (SELECT COUNT(*) FROM quotes [NOW])
                                       ^
----------
-- names
SELECT price FROM trades [NOW] WHERE EXISTS (SELECT prise FROM quotes [NOW])
=>
SqlError: line 2, column 53: there is no column 'prise'; did you mean 'price'? valid: bid, price, qty, size, symbol, ts
  SELECT price FROM trades [NOW] WHERE EXISTS (SELECT prise FROM quotes [NOW])
                                                      ^
----------
SELECT price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] q WHERE s.symbol = q.symbol)
=>
SqlError: line 1, column 83: 's' is not in FROM; valid: q, t
  SELECT price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] q WHERE s.symbol = q.symbol)
                                                                                    ^
----------
SELECT t.price FROM trades [NOW] t, orders [NOW] o WHERE EXISTS (SELECT 1 FROM quotes [NOW] q WHERE bid = qty)
=>
SqlError: line 1, column 107: column 'qty' is ambiguous; valid: t.qty, o.qty
  SELECT t.price FROM trades [NOW] t, orders [NOW] o WHERE EXISTS (SELECT 1 FROM quotes [NOW] q WHERE bid = qty)
                                                                                                            ^
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] t WHERE t.price = 1)
=>
SqlError: line 1, column 87: there is no column 'price' in 't'; valid: bid, size, symbol, ts
  SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] t WHERE t.price = 1)
                                                                                        ^
----------
-- only plain SELECTs read columns from outside
SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT symbol FROM quotes [NOW] q WHERE q.symbol = t.symbol GROUP BY symbol)
=>
UnsupportedError: line 2, column 101: 't.symbol' is a column of an enclosing SELECT, which a sub-query with GROUP BY cannot read: only the WHERE of a plain SELECT can read it
  SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT symbol FROM quotes [NOW] q WHERE q.symbol = t.symbol GROUP BY symbol)
                                                                                                      ^
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT COUNT(*) FROM quotes [NOW] q WHERE bid = price)
=>
UnsupportedError: line 1, column 98: 'price' is a column of an enclosing SELECT, which a sub-query with an aggregate cannot read: only the WHERE of a plain SELECT can read it
  SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT COUNT(*) FROM quotes [NOW] q WHERE bid = price)
                                                                                                   ^
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] q HAVING MAX(bid) > t.price)
=>
UnsupportedError: line 1, column 97: 't.price' is a column of an enclosing SELECT, which a sub-query with HAVING cannot read: only the WHERE of a plain SELECT can read it
  SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] q HAVING MAX(bid) > t.price)
                                                                                                  ^
----------
SELECT t.price FROM trades [NOW] t WHERE price IN (SELECT bid FROM quotes [NOW] q WHERE q.symbol = t.symbol UNION ALL SELECT id FROM orders [NOW])
=>
UnsupportedError: line 1, column 100: 't.symbol' is a column of an enclosing SELECT, which a sub-query with UNION cannot read: only the WHERE of a plain SELECT can read it
  SELECT t.price FROM trades [NOW] t WHERE price IN (SELECT bid FROM quotes [NOW] q WHERE q.symbol = t.symbol UNION ALL SELECT id FROM orders [NOW])
                                                                                                     ^
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM (SELECT bid FROM quotes [NOW] WHERE bid > t.price))
=>
UnsupportedError: line 1, column 106: 't.price' is a column of an enclosing SELECT, which FROM cannot read: only the WHERE of a plain SELECT can read it
  SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM (SELECT bid FROM quotes [NOW] WHERE bid > t.price))
                                                                                                           ^
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] q JOIN orders [NOW] o ON o.symbol = t.symbol)
=>
UnsupportedError: line 1, column 113: 't.symbol' is a column of an enclosing SELECT, which FROM cannot read: only the WHERE of a plain SELECT can read it
  SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] q JOIN orders [NOW] o ON o.symbol = t.symbol)
                                                                                                                  ^
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS (WITH c AS (SELECT bid FROM quotes [NOW] WHERE bid > t.price) SELECT 1 FROM c)
=>
UnsupportedError: line 1, column 102: 't.price' is a column of an enclosing SELECT, which FROM cannot read: only the WHERE of a plain SELECT can read it
  SELECT t.price FROM trades [NOW] t WHERE EXISTS (WITH c AS (SELECT bid FROM quotes [NOW] WHERE bid > t.price) SELECT 1 FROM c)
                                                                                                       ^
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] q WHERE EXISTS (SELECT 1 FROM orders [NOW] o WHERE o.symbol = t.symbol))
=>
UnsupportedError: line 1, column 139: 't.symbol' is a column of an enclosing SELECT, which a sub-query inside it cannot read: only the WHERE of a plain SELECT can read it
  SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] q WHERE EXISTS (SELECT 1 FROM orders [NOW] o WHERE o.symbol = t.symbol))
                                                                                                                                            ^
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] q WHERE q.symbol = t.symbol LIMIT 1)
=>
no error
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT DISTINCT ON (bid) bid FROM quotes [NOW])
=>
UnsupportedError: line 1, column 70: DISTINCT ON is not supported here: for the last row of each key read FROM s [PARTITION BY k ROWS 1]
  SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT DISTINCT ON (bid) bid FROM quotes [NOW])
                                                                       ^
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] WHERE SUM(bid) > 1)
=>
SqlError: line 1, column 83: aggregate SUM is not allowed in WHERE: write HAVING behind GROUP BY
  SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] WHERE SUM(bid) > 1)
                                                                                    ^
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1)
=>
UnsupportedError: line 1, column 50: SELECT without FROM is not supported: read a stream
  SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1)
                                                   ^
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS ()
=>
SqlError: line 1, column 50: expected a SELECT in EXISTS, got ')'
  SELECT t.price FROM trades [NOW] t WHERE EXISTS ()
                                                   ^
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS (quotes)
=>
SqlError: line 1, column 50: expected a SELECT in EXISTS, got 'quotes'
  SELECT t.price FROM trades [NOW] t WHERE EXISTS (quotes)
                                                   ^
----------
SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW]
=>
SqlError: line 1, column 75: expected ), but the statement ends
  SELECT t.price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW]
                                                                            ^
----------
SELECT symbol FROM trades [RANGE 1 MINUTE] WHERE (symbol, price) IN (SELECT symbol, bid FROM quotes [RANGE 1 MINUTE])
=>
no error
----------
SELECT symbol FROM trades [RANGE 1 MINUTE] WHERE ROW(symbol, price) NOT IN (SELECT symbol, bid FROM quotes [RANGE 1 MINUTE])
=>
no error
----------
SELECT symbol FROM trades [RANGE 1 MINUTE] WHERE (symbol, price) IN (SELECT symbol FROM quotes [RANGE 1 MINUTE])
=>
SqlError: line 1, column 70: IN takes a sub-query with 2 columns, this one has 1
  SELECT symbol FROM trades [RANGE 1 MINUTE] WHERE (symbol, price) IN (SELECT symbol FROM quotes [RANGE 1 MINUTE])
                                                                       ^
----------
SELECT symbol FROM trades [RANGE 1 MINUTE] WHERE (symbol, price) = ANY (SELECT symbol, bid FROM quotes [RANGE 1 MINUTE])
=>
no error
----------
