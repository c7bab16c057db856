SELECT window, COUNT(*) FROM trades GROUP BY window(ts, '10 minutes', '5 minutes')
=>
no error
----------
SELECT w.start, symbol, COUNT(*) FROM trades WHERE price > 1 GROUP BY symbol, window(ts, '10 minutes', INTERVAL 5 MINUTES, '-1 minute') AS w HAVING w.end > TIMESTAMP '2026-01-01 00:00:00'
=>
no error
----------
SELECT t.symbol, COUNT(*) FROM trades AS t JOIN companies AS c ON c.symbol = t.symbol GROUP BY t.symbol, window(t.ts, '1 minute')
=>
no error
----------
SELECT t.symbol, COUNT(*) FROM trades [RANGE 1 MINUTE] AS t, quotes [RANGE 1 MINUTE] AS q WHERE t.symbol = q.symbol GROUP BY t.symbol, window(_ts, '1 minute')
=>
no error
----------
SELECT HOP_START(ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE), COUNT(*) FROM trades GROUP BY HOP(ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)
=>
no error
----------
SELECT t.symbol, COUNT(*) FROM trades [RANGE 1 MINUTE] AS t, quotes [RANGE 1 MINUTE] AS q WHERE t.symbol = q.symbol GROUP BY t.symbol, window(t.ts, '1 minute')
=>
SqlError: line 1, column 143: windows are over the event time, _ts, not over 'ts': a row of a join, or of a sub-query without it, has its time in _ts
  SELECT t.symbol, COUNT(*) FROM trades [RANGE 1 MINUTE] AS t, quotes [RANGE 1 MINUTE] AS q WHERE t.symbol = q.symbol GROUP BY t.symbol, window(t.ts, '1 minute')
                                                                                                                                                ^
----------
SELECT COUNT(*) FROM trades GROUP BY window(price, '1 minute')
=>
SqlError: line 1, column 45: windows are over the event time, ts, not over 'price'
  SELECT COUNT(*) FROM trades GROUP BY window(price, '1 minute')
                                              ^
----------
SELECT COUNT(*) FROM trades GROUP BY window(ts + INTERVAL 1 MINUTE, '1 minute')
=>
SqlError: line 1, column 45: windows are over the event time, a column, or over _ts
  SELECT COUNT(*) FROM trades GROUP BY window(ts + INTERVAL 1 MINUTE, '1 minute')
                                              ^
----------
SELECT COUNT(*) FROM trades GROUP BY window(ts)
=>
SqlError: line 1, column 38: write window(ts, '10 minutes'[, '5 minutes'[, '1 minute']]), size, slide and start
  SELECT COUNT(*) FROM trades GROUP BY window(ts)
                                       ^
----------
SELECT COUNT(*) FROM trades GROUP BY window(ts, 10)
=>
SqlError: line 1, column 49: expected a duration, such as '10 minutes'
  SELECT COUNT(*) FROM trades GROUP BY window(ts, 10)
                                                  ^
----------
SELECT COUNT(*) FROM trades GROUP BY window(ts, '10 minuts')
=>
SqlError: line 1, column 49: unknown time unit 'minuts'; did you mean 'MINUTES'? valid: DAYS, HOURS, MICROSECONDS, MILLISECONDS, MINUTES, SECONDS, WEEKS
  SELECT COUNT(*) FROM trades GROUP BY window(ts, '10 minuts')
                                                  ^
----------
SELECT COUNT(*) FROM trades GROUP BY window(ts, '0 minutes')
=>
SqlError: line 1, column 38: a length of window must be longer than zero
  SELECT COUNT(*) FROM trades GROUP BY window(ts, '0 minutes')
                                       ^
----------
SELECT COUNT(*) FROM trades GROUP BY window(ts, '1 minute', '5 minutes')
=>
SqlError: line 1, column 38: the size of window(...) is at least its slide, and its start less than that; HOP takes size and slide as they are
  SELECT COUNT(*) FROM trades GROUP BY window(ts, '1 minute', '5 minutes')
                                       ^
----------
SELECT COUNT(*) FROM trades GROUP BY window(ts, '5 minutes', '1 minute', '1 minute')
=>
SqlError: line 1, column 38: the size of window(...) is at least its slide, and its start less than that; HOP takes size and slide as they are
  SELECT COUNT(*) FROM trades GROUP BY window(ts, '5 minutes', '1 minute', '1 minute')
                                       ^
----------
SELECT COUNT(*) FROM trades GROUP BY window(ts, '1 minute'), window(ts, '2 minutes')
=>
UnsupportedError: line 1, column 62: GROUP BY has one window, not two
  SELECT COUNT(*) FROM trades GROUP BY window(ts, '1 minute'), window(ts, '2 minutes')
                                                               ^
----------
SELECT window(ts, '2 minutes'), COUNT(*) FROM trades GROUP BY window(ts, '1 minute')
=>
SqlError: line 1, column 8: window(...) differs from the window of GROUP BY
  SELECT window(ts, '2 minutes'), COUNT(*) FROM trades GROUP BY window(ts, '1 minute')
         ^
----------
SELECT COUNT(*) FROM trades GROUP BY TUMBLE_START(ts, INTERVAL '1' MINUTE)
=>
SqlError: line 1, column 38: TUMBLE_START(...) is a column of a window: write GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)
  SELECT COUNT(*) FROM trades GROUP BY TUMBLE_START(ts, INTERVAL '1' MINUTE)
                                       ^
----------
SELECT window(ts, '1 minute'), price FROM trades
=>
SqlError: line 1, column 8: there is no function window: it is a key of GROUP BY, as in GROUP BY k, window(ts, '1 minute'), and the select list reads it then; for each row in its windows write FROM s [TUMBLE 1 MINUTE]
  SELECT window(ts, '1 minute'), price FROM trades
         ^
----------
SELECT window.start, price FROM trades GROUP BY window(ts, '1 minute')
=>
SqlError: line 1, column 22: column 'trades.price' is neither in GROUP BY nor inside an aggregate: add it to GROUP BY, or write MAX(trades.price) or the like; grouped by: window_start, window_end
  SELECT window.start, price FROM trades GROUP BY window(ts, '1 minute')
                       ^
----------
SELECT window.begin FROM trades GROUP BY window(ts, '1 minute')
=>
SqlError: line 1, column 15: there is no column 'begin' in 'window'; valid: end, start
  SELECT window.begin FROM trades GROUP BY window(ts, '1 minute')
                ^
----------
SELECT COUNT(*) FROM trades [RANGE 5 MINUTES] GROUP BY window(ts, '1 minute')
=>
SqlError: line 1, column 29: 'trades' has a window beside window(...), which is one: remove this
  SELECT COUNT(*) FROM trades [RANGE 5 MINUTES] GROUP BY window(ts, '1 minute')
                              ^
----------
SELECT COUNT(*) FROM trades GROUP BY window(ts, '1 minute') WINDOW 10 SECONDS
=>
SqlError: line 1, column 61: 'trades' has a window beside window(...), which is one: remove this
  SELECT COUNT(*) FROM trades GROUP BY window(ts, '1 minute') WINDOW 10 SECONDS
                                                              ^
----------
SELECT COUNT(*) FROM trades [TUMBLE 1 MINUTE] GROUP BY window(ts, '1 minute')
=>
UnsupportedError: line 1, column 56: the rows are in windows already, beside window(...): GROUP BY window_start, window_end instead, or read the stream without its window
  SELECT COUNT(*) FROM trades [TUMBLE 1 MINUTE] GROUP BY window(ts, '1 minute')
                                                         ^
----------
SELECT COUNT(*) FROM trades [ROWS 10] AS a, quotes [RANGE 1 MINUTE] AS b WHERE a.symbol = b.symbol GROUP BY window(_ts, '1 minute')
=>
UnsupportedError: line 1, column 109: TUMBLE over rows that are taken back is not supported (GROUP BY, windows of rows, NOT EXISTS, tables that change): put the window on the streams below, and group by window_start and window_end
  SELECT COUNT(*) FROM trades [ROWS 10] AS a, quotes [RANGE 1 MINUTE] AS b WHERE a.symbol = b.symbol GROUP BY window(_ts, '1 minute')
                                                                                                              ^
----------
SELECT COUNT(*) FROM companies GROUP BY window(symbol, '1 minute')
=>
SqlError: line 1, column 41: window(...) needs a stream: tables have no event time
  SELECT COUNT(*) FROM companies GROUP BY window(symbol, '1 minute')
                                          ^
----------
SELECT COUNT(*) FROM trades AS window GROUP BY window(ts, '1 minute')
=>
SqlError: line 1, column 48: a FROM item is named 'window', as the window: write window AS another, or GROUP BY window(...) AS w
  SELECT COUNT(*) FROM trades AS window GROUP BY window(ts, '1 minute')
                                                 ^
----------
SELECT COUNT(*) FROM trades GROUP BY symbol AS s
=>
SqlError: line 1, column 45: unexpected 'AS'
  SELECT COUNT(*) FROM trades GROUP BY symbol AS s
                                              ^
----------
