-- Joins without windows whose conditions do not bound the times
=>
no error
----------
SELECT t.price FROM trades t JOIN quotes q ON t.symbol = q.symbol AND t.ts >= q.ts
=>
SqlError: line 1, column 35: a join needs a window on stream 'quotes'; write quotes [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS. Or bound the times of the rows that are joined, as in t.ts <= q.ts + INTERVAL '10' SECOND
  SELECT t.price FROM trades t JOIN quotes q ON t.symbol = q.symbol AND t.ts >= q.ts
                                    ^
----------
SELECT t.price FROM trades t JOIN quotes q ON t.symbol = q.symbol AND t.ts < q.ts + INTERVAL '1' MINUTE
=>
SqlError: line 1, column 21: a join needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS. Or bound the times of the rows that are joined, as in q.ts <= t.ts + INTERVAL '10' SECOND
  SELECT t.price FROM trades t JOIN quotes q ON t.symbol = q.symbol AND t.ts < q.ts + INTERVAL '1' MINUTE
                      ^
----------
SELECT t.price FROM trades t, quotes q WHERE t.symbol = q.symbol AND t.ts < q.ts + t.qty * INTERVAL '1' SECOND AND t.ts > q.ts
=>
SqlError: line 1, column 31: a join needs a window on stream 'quotes'; write quotes [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS. Or bound the times of the rows that are joined, as in t.ts <= q.ts + INTERVAL '10' SECOND
  SELECT t.price FROM trades t, quotes q WHERE t.symbol = q.symbol AND t.ts < q.ts + t.qty * INTERVAL '1' SECOND AND t.ts > q.ts
                                ^
----------
SELECT t.price FROM trades t, quotes q WHERE t.symbol = q.symbol AND (t.ts < q.ts + INTERVAL '1' MINUTE AND t.ts > q.ts OR t.qty = 0)
=>
SqlError: line 1, column 21: a join needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS. Or bound the times of the rows that are joined, as in q.ts <= t.ts + INTERVAL '10' SECOND AND q.ts >= t.ts - INTERVAL '10' SECOND
  SELECT t.price FROM trades t, quotes q WHERE t.symbol = q.symbol AND (t.ts < q.ts + INTERVAL '1' MINUTE AND t.ts > q.ts OR t.qty = 0)
                      ^
----------
SELECT t.price FROM trades t, quotes q, orders o WHERE t.ts BETWEEN q.ts AND q.ts + INTERVAL '1' MINUTE AND o.ts > t.ts
=>
SqlError: line 1, column 21: a join needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS. Or bound the times of the rows that are joined, as in o.ts <= t.ts + INTERVAL '10' SECOND
  SELECT t.price FROM trades t, quotes q, orders o WHERE t.ts BETWEEN q.ts AND q.ts + INTERVAL '1' MINUTE AND o.ts > t.ts
                      ^
----------
SELECT t.price FROM trades t LEFT JOIN quotes q ON t.symbol = q.symbol AND q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE
=>
no error
----------
SELECT t.price FROM trades t JOIN quotes q ON t.symbol = q.symbol AND q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MONTH
=>
SqlError: line 1, column 21: a join needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS. Or bound the times of the rows that are joined, as in q.ts <= t.ts + INTERVAL '10' SECOND
  SELECT t.price FROM trades t JOIN quotes q ON t.symbol = q.symbol AND q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MONTH
                      ^
----------
SELECT t.price FROM trades t, (SELECT symbol, COUNT(*) AS n FROM quotes [NOW] GROUP BY symbol) q WHERE t.symbol = q.symbol
=>
SqlError: line 1, column 21: a join needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT t.price FROM trades t, (SELECT symbol, COUNT(*) AS n FROM quotes [NOW] GROUP BY symbol) q WHERE t.symbol = q.symbol
                      ^
----------
SELECT t.price FROM trades t LEFT JOIN quotes q ON t.symbol = q.symbol AND q.ts >= t.ts
=>
SqlError: line 1, column 21: LEFT JOIN needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT t.price FROM trades t LEFT JOIN quotes q ON t.symbol = q.symbol AND q.ts >= t.ts
                      ^
----------
SELECT t.price FROM trades t FULL JOIN (SELECT * FROM quotes WHERE bid > 1) q ON t.symbol = q.symbol AND q.ts - t.ts BETWEEN INTERVAL '0' SECOND AND INTERVAL '1' MINUTE
=>
no error
----------
SELECT t.price FROM trades t LEFT JOIN quotes q ON t.symbol = q.symbol WHERE q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE
=>
SqlError: line 1, column 21: LEFT JOIN needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT t.price FROM trades t LEFT JOIN quotes q ON t.symbol = q.symbol WHERE q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE
                      ^
----------
SELECT t.price FROM trades t LEFT JOIN quotes q ON t.symbol = q.symbol AND q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE JOIN orders o ON o.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE
=>
SqlError: line 1, column 130: a join needs a window on stream 'orders'; write orders [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT t.price FROM trades t LEFT JOIN quotes q ON t.symbol = q.symbol AND q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE JOIN orders o ON o.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE
                                                                                                                                   ^
----------
SELECT t.price FROM trades t LEFT JOIN quotes q ON t.symbol = q.symbol AND q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE JOIN companies c ON c.symbol = t.symbol
=>
no error
----------
SELECT t.price FROM trades t LEFT JOIN quotes q ON t.symbol = q.symbol AND q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE WHERE t.ts > now() - INTERVAL '10' SECOND
=>
UnsupportedError: line 1, column 131: t.ts: a window between fixed instants cannot be cut; leave now() out
  SELECT t.price FROM trades t LEFT JOIN quotes q ON t.symbol = q.symbol AND q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE WHERE t.ts > now() - INTERVAL '10' SECOND
                                                                                                                                    ^
----------
SELECT t.symbol, COUNT(*) FROM trades t LEFT JOIN quotes q ON t.symbol = q.symbol AND q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE GROUP BY t.symbol
=>
no error
----------
SELECT t.price FROM trades [RANGE 1 HOUR] t LEFT JOIN quotes q ON t.symbol = q.symbol AND q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE
=>
SqlError: line 1, column 55: LEFT JOIN needs a window on stream 'quotes'; write quotes [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT t.price FROM trades [RANGE 1 HOUR] t LEFT JOIN quotes q ON t.symbol = q.symbol AND q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE
                                                        ^
----------
