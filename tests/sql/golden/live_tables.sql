CREATE TABLE t (a INT) WITH (updates = 'retroactive')
=>
no error
----------
-- a changing table keeps rows of the streams beside it
SELECT price FROM trades, limits WHERE trades.symbol = limits.symbol
=>
SqlError: line 2, column 19: a join needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT price FROM trades, limits WHERE trades.symbol = limits.symbol
                    ^
----------
SELECT price FROM trades WHERE NOT EXISTS (SELECT 1 FROM limits WHERE trades.symbol = limits.symbol)
=>
SqlError: line 1, column 19: EXISTS needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS; or bound the times of the rows that match on both sides, as in WHERE b.k = a.k AND b.ts BETWEEN a.ts - INTERVAL '5' MINUTE AND a.ts
  SELECT price FROM trades WHERE NOT EXISTS (SELECT 1 FROM limits WHERE trades.symbol = limits.symbol)
                    ^
----------
SELECT symbol FROM companies
=>
UnsupportedError: line 1, column 1: a query over static tables only is not supported: a standing query reads a stream or a table that changes
  SELECT symbol FROM companies
  ^
----------
-- a result shows a non-retroactive table as it was at its own instant, so it must have one
SELECT rate FROM rates
=>
UnsupportedError: line 2, column 18: table 'rates' is non-retroactive: only rows of a stream can look it up; add a stream to the same FROM, or declare the table with updates = 'retroactive'
  SELECT rate FROM rates
                   ^
----------
SELECT rate FROM rates, companies WHERE rates.symbol = companies.symbol
=>
UnsupportedError: line 1, column 18: table 'rates' is non-retroactive: only rows of a stream can look it up; add a stream to the same FROM, or declare the table with updates = 'retroactive'
  SELECT rate FROM rates, companies WHERE rates.symbol = companies.symbol
                   ^
----------
SELECT symbol FROM trades [NOW] EXCEPT SELECT symbol FROM rates
=>
UnsupportedError: line 1, column 59: table 'rates' is non-retroactive: only rows of a stream can look it up; add a stream to the same FROM, or declare the table with updates = 'retroactive'
  SELECT symbol FROM trades [NOW] EXCEPT SELECT symbol FROM rates
                                                            ^
----------
SELECT price FROM trades [NOW] WHERE EXISTS (SELECT 1 FROM rates)
=>
UnsupportedError: line 1, column 60: table 'rates' is non-retroactive: only rows of a stream can look it up; add a stream to the same FROM, or declare the table with updates = 'retroactive'
  SELECT price FROM trades [NOW] WHERE EXISTS (SELECT 1 FROM rates)
                                                             ^
----------
SELECT price FROM trades [NOW] WHERE EXISTS (SELECT 1 FROM rates WHERE rate > 1)
=>
UnsupportedError: line 1, column 60: table 'rates' is non-retroactive: only rows of a stream can look it up; add a stream to the same FROM, or declare the table with updates = 'retroactive'
  SELECT price FROM trades [NOW] WHERE EXISTS (SELECT 1 FROM rates WHERE rate > 1)
                                                             ^
----------
SELECT price FROM trades [NOW] WHERE price IN (SELECT MAX(rate) FROM rates)
=>
UnsupportedError: line 1, column 70: table 'rates' is non-retroactive: only rows of a stream can look it up; add a stream to the same FROM, or declare the table with updates = 'retroactive'
  SELECT price FROM trades [NOW] WHERE price IN (SELECT MAX(rate) FROM rates)
                                                                       ^
----------
SELECT l.symbol FROM companies l JOIN limits USING (symbol) WHERE EXISTS (SELECT 1 FROM rates r WHERE r.symbol = l.symbol)
=>
UnsupportedError: line 1, column 89: table 'rates' is non-retroactive: it cannot join 'limits', whose rows may be withdrawn; declare the table with updates = 'retroactive'
  SELECT l.symbol FROM companies l JOIN limits USING (symbol) WHERE EXISTS (SELECT 1 FROM rates r WHERE r.symbol = l.symbol)
                                                                                          ^
----------
SELECT c.symbol FROM companies c, trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] q WHERE q.symbol = t.symbol AND EXISTS (SELECT 1 FROM rates))
=>
UnsupportedError: line 1, column 145: table 'rates' is non-retroactive: only rows of a stream can look it up; add a stream to the same FROM, or declare the table with updates = 'retroactive'
  SELECT c.symbol FROM companies c, trades [NOW] t WHERE EXISTS (SELECT 1 FROM quotes [NOW] q WHERE q.symbol = t.symbol AND EXISTS (SELECT 1 FROM rates))
                                                                                                                                                  ^
----------
SELECT price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM rates r WHERE r.symbol = t.symbol AND EXISTS (SELECT 1 FROM quotes [NOW] q WHERE q.symbol = r.symbol))
=>
UnsupportedError: line 1, column 62: table 'rates' is non-retroactive: only rows of a stream can look it up; add a stream to the same FROM, or declare the table with updates = 'retroactive'
  SELECT price FROM trades [NOW] t WHERE EXISTS (SELECT 1 FROM rates r WHERE r.symbol = t.symbol AND EXISTS (SELECT 1 FROM quotes [NOW] q WHERE q.symbol = r.symbol))
                                                               ^
----------
-- and must not be made anew later
SELECT rate FROM trades [ROWS 3] t JOIN rates USING (symbol)
=>
UnsupportedError: line 2, column 41: table 'rates' is non-retroactive: it cannot join 't', whose rows may be withdrawn; declare the table with updates = 'retroactive'
  SELECT rate FROM trades [ROWS 3] t JOIN rates USING (symbol)
                                          ^
----------
SELECT rate FROM averages [NOW] JOIN rates USING (symbol)
=>
UnsupportedError: line 1, column 38: table 'rates' is non-retroactive: it cannot join 'averages', whose rows may be withdrawn; declare the table with updates = 'retroactive'
  SELECT rate FROM averages [NOW] JOIN rates USING (symbol)
                                       ^
----------
SELECT rate FROM (SELECT symbol FROM trades [NOW] EXCEPT SELECT symbol FROM quotes [NOW]) JOIN rates USING (symbol)
=>
UnsupportedError: line 1, column 96: table 'rates' is non-retroactive: it cannot join a query in FROM, whose rows may be withdrawn; declare the table with updates = 'retroactive'
  SELECT rate FROM (SELECT symbol FROM trades [NOW] EXCEPT SELECT symbol FROM quotes [NOW]) JOIN rates USING (symbol)
                                                                                                 ^
----------
SELECT rate FROM trades [NOW] JOIN limits USING (symbol) JOIN rates USING (symbol)
=>
UnsupportedError: line 1, column 63: table 'rates' is non-retroactive: it cannot join 'limits', whose rows may be withdrawn; declare the table with updates = 'retroactive'
  SELECT rate FROM trades [NOW] JOIN limits USING (symbol) JOIN rates USING (symbol)
                                                                ^
----------
SELECT rate FROM trades [NOW] t LEFT JOIN quotes [NOW] q USING (symbol) JOIN rates r USING (symbol)
=>
UnsupportedError: line 1, column 78: table 'rates' is non-retroactive: it cannot join an outer join, whose rows may be withdrawn; join it before that, or declare the table with updates = 'retroactive'
  SELECT rate FROM trades [NOW] t LEFT JOIN quotes [NOW] q USING (symbol) JOIN rates r USING (symbol)
                                                                               ^
----------
SELECT rate FROM trades [NOW] t LEFT JOIN quotes [NOW] q USING (symbol) LEFT JOIN rates r USING (symbol)
=>
UnsupportedError: line 1, column 83: table 'rates' is non-retroactive: it cannot join an outer join, whose rows may be withdrawn; join it before that, or declare the table with updates = 'retroactive'
  SELECT rate FROM trades [NOW] t LEFT JOIN quotes [NOW] q USING (symbol) LEFT JOIN rates r USING (symbol)
                                                                                    ^
----------
SELECT price FROM trades [ROWS 3] t WHERE EXISTS (SELECT 1 FROM rates r WHERE r.symbol = t.symbol)
=>
UnsupportedError: line 1, column 65: table 'rates' is non-retroactive: it cannot join 't', whose rows may be withdrawn; declare the table with updates = 'retroactive'
  SELECT price FROM trades [ROWS 3] t WHERE EXISTS (SELECT 1 FROM rates r WHERE r.symbol = t.symbol)
                                                                  ^
----------
-- outer joins keep it to the right of all streams
SELECT rate FROM trades [NOW] t RIGHT JOIN rates USING (symbol)
=>
UnsupportedError: line 2, column 44: table 'rates' is non-retroactive: it is not allowed in a RIGHT JOIN; LEFT JOIN it behind all streams of FROM, or declare the table with updates = 'retroactive'
  SELECT rate FROM trades [NOW] t RIGHT JOIN rates USING (symbol)
                                             ^
----------
SELECT rate FROM trades [NOW] t JOIN rates USING (symbol) FULL JOIN quotes [NOW] USING (symbol)
=>
UnsupportedError: line 1, column 38: table 'rates' is non-retroactive: it is not allowed in a FULL JOIN; LEFT JOIN it behind all streams of FROM, or declare the table with updates = 'retroactive'
  SELECT rate FROM trades [NOW] t JOIN rates USING (symbol) FULL JOIN quotes [NOW] USING (symbol)
                                       ^
----------
SELECT rate FROM rates LEFT JOIN trades [NOW] USING (symbol)
=>
UnsupportedError: line 1, column 18: table 'rates' is non-retroactive: LEFT JOIN it behind all streams of FROM, or declare the table with updates = 'retroactive'
  SELECT rate FROM rates LEFT JOIN trades [NOW] USING (symbol)
                   ^
----------
SELECT rate FROM trades [NOW] t LEFT JOIN rates USING (symbol) JOIN quotes [NOW] q USING (symbol)
=>
UnsupportedError: line 1, column 43: table 'rates' is non-retroactive: LEFT JOIN it behind all streams of FROM, or declare the table with updates = 'retroactive'
  SELECT rate FROM trades [NOW] t LEFT JOIN rates USING (symbol) JOIN quotes [NOW] q USING (symbol)
                                            ^
----------
SELECT rate FROM trades [NOW] t LEFT JOIN rates USING (symbol) LEFT JOIN quotes [NOW] q USING (symbol)
=>
UnsupportedError: line 1, column 43: table 'rates' is non-retroactive: LEFT JOIN it behind all streams of FROM, or declare the table with updates = 'retroactive'
  SELECT rate FROM trades [NOW] t LEFT JOIN rates USING (symbol) LEFT JOIN quotes [NOW] q USING (symbol)
                                            ^
----------
SELECT rate FROM rates LEFT JOIN companies USING (symbol), trades [NOW]
=>
UnsupportedError: line 1, column 18: table 'rates' is non-retroactive: only rows of a stream can look it up; add a stream to the same FROM, or declare the table with updates = 'retroactive'
  SELECT rate FROM rates LEFT JOIN companies USING (symbol), trades [NOW]
                   ^
----------
-- in parentheses as without
SELECT price FROM trades [NOW] t LEFT JOIN (quotes [NOW] q JOIN rates USING (symbol)) USING (symbol)
=>
UnsupportedError: line 2, column 65: table 'rates' is non-retroactive: LEFT JOIN it behind all streams of FROM, or declare the table with updates = 'retroactive'
  SELECT price FROM trades [NOW] t LEFT JOIN (quotes [NOW] q JOIN rates USING (symbol)) USING (symbol)
                                                                  ^
----------
SELECT price FROM trades [NOW] t LEFT JOIN (companies JOIN rates USING (symbol)) USING (symbol)
=>
UnsupportedError: line 1, column 60: table 'rates' is non-retroactive: LEFT JOIN it behind all streams of FROM, or declare the table with updates = 'retroactive'
  SELECT price FROM trades [NOW] t LEFT JOIN (companies JOIN rates USING (symbol)) USING (symbol)
                                                             ^
----------
SELECT price FROM ((trades [NOW] t LEFT JOIN rates USING (symbol)) JOIN quotes [NOW] q USING (symbol)) JOIN companies USING (symbol)
=>
UnsupportedError: line 1, column 46: table 'rates' is non-retroactive: LEFT JOIN it behind all streams of FROM, or declare the table with updates = 'retroactive'
  SELECT price FROM ((trades [NOW] t LEFT JOIN rates USING (symbol)) JOIN quotes [NOW] q USING (symbol)) JOIN companies USING (symbol)
                                               ^
----------
