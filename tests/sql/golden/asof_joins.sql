SELECT t.price FROM trades t ASOF JOIN quotes q ON t.symbol = q.symbol
=>
UnsupportedError: line 1, column 40: ASOF JOIN takes equalities and one comparison of event times, ts >= q.ts
  SELECT t.price FROM trades t ASOF JOIN quotes q ON t.symbol = q.symbol
                                         ^
----------
SELECT t.price FROM trades t ASOF JOIN quotes q ON t.symbol = q.symbol AND t.ts <= q.ts
=>
UnsupportedError: line 1, column 40: ASOF JOIN takes equalities and one comparison of event times, ts >= q.ts, not (t.ts <= q.ts): put it into WHERE, or into a sub-query in FROM
  SELECT t.price FROM trades t ASOF JOIN quotes q ON t.symbol = q.symbol AND t.ts <= q.ts
                                         ^
----------
SELECT t.price FROM trades t ASOF JOIN quotes q ON t.symbol = q.symbol AND t.ts >= q.ts AND q.bid > 3
=>
UnsupportedError: line 1, column 40: ASOF JOIN takes equalities and one comparison of event times, ts >= q.ts, not (q.bid > 3.0): put it into WHERE, or into a sub-query in FROM
  SELECT t.price FROM trades t ASOF JOIN quotes q ON t.symbol = q.symbol AND t.ts >= q.ts AND q.bid > 3
                                         ^
----------
SELECT t.price FROM trades t ASOF JOIN quotes q ON t.symbol = q.symbol AND t.price >= q.bid
=>
UnsupportedError: line 1, column 40: ASOF JOIN takes equalities and one comparison of event times, ts >= q.ts, not (t.price >= q.bid): put it into WHERE, or into a sub-query in FROM
  SELECT t.price FROM trades t ASOF JOIN quotes q ON t.symbol = q.symbol AND t.price >= q.bid
                                         ^
----------
SELECT t.price FROM trades t ASOF RIGHT JOIN quotes q ON t.symbol = q.symbol AND t.ts >= q.ts
=>
UnsupportedError: line 1, column 46: RIGHT ASOF JOIN is not supported: write ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts
  SELECT t.price FROM trades t ASOF RIGHT JOIN quotes q ON t.symbol = q.symbol AND t.ts >= q.ts
                                               ^
----------
SELECT t.price FROM trades t ASOF JOIN quotes [ROWS 3] q ON t.symbol = q.symbol AND t.ts >= q.ts
=>
UnsupportedError: line 1, column 40: ASOF JOIN takes rows that stay until they expire, not those of windows of rows, GROUP BY or NOT EXISTS: write the streams without windows, or with [RANGE 5 MINUTES]; the latest row per key needs no window
  SELECT t.price FROM trades t ASOF JOIN quotes [ROWS 3] q ON t.symbol = q.symbol AND t.ts >= q.ts
                                         ^
----------
SELECT t.price FROM trades [ROWS 3] t ASOF JOIN quotes q ON t.symbol = q.symbol AND t.ts >= q.ts
=>
UnsupportedError: line 1, column 49: ASOF JOIN takes rows that stay until they expire, not those of windows of rows, GROUP BY or NOT EXISTS: write the streams without windows, or with [RANGE 5 MINUTES]; the latest row per key needs no window
  SELECT t.price FROM trades [ROWS 3] t ASOF JOIN quotes q ON t.symbol = q.symbol AND t.ts >= q.ts
                                                  ^
----------
SELECT t.price FROM trades t ASOF JOIN companies q ON t.symbol = q.symbol
=>
UnsupportedError: line 1, column 40: ASOF JOIN needs the event time of one stream behind it among the columns; write ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts
  SELECT t.price FROM trades t ASOF JOIN companies q ON t.symbol = q.symbol
                                         ^
----------
SELECT t.price FROM trades t ASOF JOIN (SELECT symbol, bid FROM quotes) q ON t.symbol = q.symbol AND t.ts >= q.symbol
=>
SqlError: line 1, column 102: TIMESTAMP and STRING have no common type; CAST one of them to the other
  SELECT t.price FROM trades t ASOF JOIN (SELECT symbol, bid FROM quotes) q ON t.symbol = q.symbol AND t.ts >= q.symbol
                                                                                                       ^
----------
SELECT t.price FROM trades [NOW] t, orders [NOW] o ASOF JOIN quotes q ON t.symbol = q.symbol AND t.ts >= q.ts
=>
UnsupportedError: line 1, column 62: ASOF JOIN needs the event time of one stream in front among the columns; write ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts
  SELECT t.price FROM trades [NOW] t, orders [NOW] o ASOF JOIN quotes q ON t.symbol = q.symbol AND t.ts >= q.ts
                                                               ^
----------
SELECT symbol, COUNT(*) AS n FROM trades t ASOF JOIN quotes q USING (symbol, ts) GROUP BY symbol
=>
SqlError: line 1, column 35: GROUP BY needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT symbol, COUNT(*) AS n FROM trades t ASOF JOIN quotes q USING (symbol, ts) GROUP BY symbol
                                    ^
----------
SELECT t.price FROM trades t JOIN quotes FOR SYSTEM_TIME AS OF t.price AS q ON t.symbol = q.symbol
=>
SqlError: line 1, column 64: FOR SYSTEM_TIME AS OF takes the event time of the rows in front, ts
  SELECT t.price FROM trades t JOIN quotes FOR SYSTEM_TIME AS OF t.price AS q ON t.symbol = q.symbol
                                                                 ^
----------
SELECT t.price FROM trades t JOIN quotes FOR SYSTEM_TIME AS OF TIMESTAMP '2020-01-01' AS q ON t.symbol = q.symbol
=>
UnsupportedError: line 1, column 35: write FOR SYSTEM_TIME AS OF a.ts, with the event time of the stream in front
  SELECT t.price FROM trades t JOIN quotes FOR SYSTEM_TIME AS OF TIMESTAMP '2020-01-01' AS q ON t.symbol = q.symbol
                                    ^
----------
SELECT t.price FROM trades t JOIN companies FOR SYSTEM_TIME AS OF t.ts AS c ON t.symbol = c.symbol
=>
no error
----------
SELECT t.price FROM trades FOR SYSTEM_TIME AS OF TIMESTAMP '2020-01-01' AS t
=>
UnsupportedError: line 1, column 21: FOR SYSTEM_TIME AS OF is not supported for the first item of FROM: there are no rows in front whose time it is
  SELECT t.price FROM trades FOR SYSTEM_TIME AS OF TIMESTAMP '2020-01-01' AS t
                      ^
----------
SELECT t.price FROM trades t JOIN quotes FOR SYSTEM_TIME BETWEEN t.ts AND t.ts AS q ON t.symbol = q.symbol
=>
UnsupportedError: line 1, column 35: a span of versions is not supported: write FOR SYSTEM_TIME AS OF a.ts behind the joined item
  SELECT t.price FROM trades t JOIN quotes FOR SYSTEM_TIME BETWEEN t.ts AND t.ts AS q ON t.symbol = q.symbol
                                    ^
----------
SELECT t.price FROM trades t, quotes FOR SYSTEM_TIME AS OF t.ts AS q WHERE t.symbol = q.symbol
=>
SqlError: line 1, column 31: how do its rows match? write ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts
  SELECT t.price FROM trades t, quotes FOR SYSTEM_TIME AS OF t.ts AS q WHERE t.symbol = q.symbol
                                ^
----------
SELECT t.price FROM trades t JOIN quotes VERSION AS OF 3 AS q ON t.symbol = q.symbol
=>
UnsupportedError: line 1, column 35: write FOR SYSTEM_TIME AS OF a.ts, with the event time of the stream in front
  SELECT t.price FROM trades t JOIN quotes VERSION AS OF 3 AS q ON t.symbol = q.symbol
                                    ^
----------
