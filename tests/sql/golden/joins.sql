SELECT price FROM trades LEFT JOIN quotes ON TRUE
=>
SqlError: line 1, column 19: LEFT JOIN needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT price FROM trades LEFT JOIN quotes ON TRUE
                    ^
----------
-- a row of the side that stays is kept as long as the other may match it
SELECT sector FROM companies LEFT JOIN trades USING (symbol)
=>
SqlError: line 2, column 40: LEFT JOIN needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT sector FROM companies LEFT JOIN trades USING (symbol)
                                         ^
----------
SELECT sector FROM trades RIGHT JOIN companies USING (symbol)
=>
SqlError: line 1, column 20: RIGHT JOIN needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT sector FROM trades RIGHT JOIN companies USING (symbol)
                     ^
----------
SELECT sector FROM trades FULL JOIN companies USING (symbol)
=>
SqlError: line 1, column 20: FULL JOIN needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT sector FROM trades FULL JOIN companies USING (symbol)
                     ^
----------
SELECT price FROM trades OUTER JOIN quotes ON TRUE
=>
SqlError: line 1, column 26: which OUTER JOIN? Write LEFT, RIGHT or FULL in front
  SELECT price FROM trades OUTER JOIN quotes ON TRUE
                           ^
----------
SELECT price FROM trades LEFT ANTI JOIN quotes ON TRUE
=>
SqlError: line 1, column 19: EXISTS needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS; or bound the times of the rows that match on both sides, as in WHERE b.k = a.k AND b.ts BETWEEN a.ts - INTERVAL '5' MINUTE AND a.ts
  SELECT price FROM trades LEFT ANTI JOIN quotes ON TRUE
                    ^
----------
SELECT price FROM trades LEFT SEMI JOIN quotes ON TRUE
=>
SqlError: line 1, column 19: EXISTS needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS; or bound the times of the rows that match on both sides, as in WHERE b.k = a.k AND b.ts BETWEEN a.ts - INTERVAL '5' MINUTE AND a.ts
  SELECT price FROM trades LEFT SEMI JOIN quotes ON TRUE
                    ^
----------
SELECT price FROM trades NATURAL LEFT JOIN quotes
=>
no error
----------
SELECT price FROM trades [NOW] LEFT JOIN quotes [NOW] USING (sizes)
=>
SqlError: line 1, column 62: there is no column 'sizes'; valid: price, qty, symbol, ts
  SELECT price FROM trades [NOW] LEFT JOIN quotes [NOW] USING (sizes)
                                                               ^
----------
SELECT price FROM trades [NOW] LEFT JOIN quotes [NOW] USING (price)
=>
SqlError: line 1, column 62: there is no column 'price'; valid: bid, size, symbol, ts
  SELECT price FROM trades [NOW] LEFT JOIN quotes [NOW] USING (price)
                                                               ^
----------
SELECT o.id FROM orders [NOW] o JOIN (SELECT size AS symbol FROM quotes [NOW]) q USING (symbol)
=>
SqlError: line 1, column 89: STRING and INT have no common type; CAST one of them to the other
  SELECT o.id FROM orders [NOW] o JOIN (SELECT size AS symbol FROM quotes [NOW]) q USING (symbol)
                                                                                          ^
----------
SELECT price FROM trades [NOW] t LEFT JOIN quotes [NOW] t ON TRUE
=>
SqlError: line 1, column 44: two FROM items are named 't'; rename one with AS
  SELECT price FROM trades [NOW] t LEFT JOIN quotes [NOW] t ON TRUE
                                             ^
----------
SELECT symbol FROM trades [NOW] t LEFT JOIN quotes [NOW] q ON t.symbol = q.symbol
=>
SqlError: line 1, column 8: column 'symbol' is ambiguous; valid: t.symbol, q.symbol
  SELECT symbol FROM trades [NOW] t LEFT JOIN quotes [NOW] q ON t.symbol = q.symbol
         ^
----------
-- the one symbol of USING is none of the two
SELECT t.symbol, COUNT(*) FROM trades [NOW] t FULL JOIN quotes [NOW] q USING (symbol) GROUP BY symbol
=>
SqlError: line 2, column 8: column 't.symbol' is neither in GROUP BY nor inside an aggregate: add it to GROUP BY, or write MAX(t.symbol) or the like; grouped by: coalesce(t.symbol, q.symbol)
  SELECT t.symbol, COUNT(*) FROM trades [NOW] t FULL JOIN quotes [NOW] q USING (symbol) GROUP BY symbol
         ^
----------
-- joins in parentheses: ON sees what is inside
SELECT t.price FROM trades [NOW] t JOIN (quotes [NOW] q JOIN orders [NOW] o ON q.symbol = t.symbol) ON t.symbol = q.symbol
=>
SqlError: line 2, column 91: 't' is not in FROM; valid: o, q
  SELECT t.price FROM trades [NOW] t JOIN (quotes [NOW] q JOIN orders [NOW] o ON q.symbol = t.symbol) ON t.symbol = q.symbol
                                                                                            ^
----------
-- and names are those of the whole FROM
SELECT t.price FROM trades [NOW] t JOIN (quotes [NOW] q JOIN orders [NOW] t USING (symbol)) USING (symbol)
=>
SqlError: line 2, column 62: two FROM items are named 't'; rename one with AS
  SELECT t.price FROM trades [NOW] t JOIN (quotes [NOW] q JOIN orders [NOW] t USING (symbol)) USING (symbol)
                                                               ^
----------
SELECT price FROM (trades t JOIN quotes q USING (symbol)) JOIN companies USING (symbol)
=>
SqlError: line 1, column 20: a join needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS. Or bound the times of the rows that are joined, as in q.ts <= t.ts + INTERVAL '10' SECOND AND q.ts >= t.ts - INTERVAL '10' SECOND
  SELECT price FROM (trades t JOIN quotes q USING (symbol)) JOIN companies USING (symbol)
                     ^
----------
SELECT price FROM (trades [NOW] t JOIN quotes [NOW] q USING (symbol)) [NOW]
=>
SqlError: line 1, column 71: this window applies to no stream: every stream here has its own, or is outside
  SELECT price FROM (trades [NOW] t JOIN quotes [NOW] q USING (symbol)) [NOW]
                                                                        ^
----------
SELECT price FROM (trades [NOW] t JOIN quotes [NOW] q USING (symbol)
=>
SqlError: line 1, column 68: expecting )
  SELECT price FROM (trades [NOW] t JOIN quotes [NOW] q USING (symbol)
                                                                     ^
----------
SELECT price FROM trades [NOW] t LEFT JOIN (quotes [NOW] q JOIN orders o USING (symbol)) USING (symbol)
=>
SqlError: line 1, column 65: LEFT JOIN needs a window on stream 'orders'; write orders [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT price FROM trades [NOW] t LEFT JOIN (quotes [NOW] q JOIN orders o USING (symbol)) USING (symbol)
                                                                  ^
----------
