SELECT symbol, window_start, window_end, COUNT(*) FROM trades [SESSION 30 SECONDS BY symbol] GROUP BY symbol, window_start, window_end
=>
no error
----------
SELECT symbol, COUNT(*) FROM SESSION(TABLE trades PARTITION BY symbol, DESCRIPTOR(ts), INTERVAL '30' SECOND) GROUP BY symbol
=>
no error
----------
SELECT symbol, COUNT(*) FROM TABLE(SESSION(DATA => TABLE(trades) PARTITION BY (symbol), TIMECOL => DESCRIPTOR(ts), GAP => INTERVAL '30' SECOND)) GROUP BY symbol
=>
no error
----------
SELECT symbol, COUNT(*) FROM SESSION(TABLE trades, DESCRIPTOR(ts), INTERVAL '30' SECOND) PARTITION BY symbol AS s GROUP BY symbol
=>
no error
----------
SELECT symbol, COUNT(*), session_window.end FROM trades WHERE price > 1 GROUP BY symbol, session_window(ts, '30 seconds')
=>
no error
----------
SELECT * FROM trades [SESSION 0 SECONDS BY symbol]
=>
SqlError: line 1, column 31: the gap of SESSION must be longer than zero
  SELECT * FROM trades [SESSION 0 SECONDS BY symbol]
                                ^
----------
SELECT * FROM trades [SESSION 30 BY symbol]
=>
SqlError: line 1, column 34: unknown time unit 'BY'; valid: DAYS, HOURS, MICROSECONDS, MILLISECONDS, MINUTES, SECONDS, WEEKS
  SELECT * FROM trades [SESSION 30 BY symbol]
                                   ^
----------
SELECT * FROM trades [SESSION 30 SECONDS BY]
=>
SqlError: line 1, column 44: expected the columns of BY, got ']'
  SELECT * FROM trades [SESSION 30 SECONDS BY]
                                             ^
----------
SELECT symbol, COUNT(*) FROM trades [SESSION 30 SECONDS BY symbo] GROUP BY symbol
=>
SqlError: line 1, column 60: there is no column 'symbo' in 'trades'; did you mean 'symbol'? valid: price, qty, symbol, ts
  SELECT symbol, COUNT(*) FROM trades [SESSION 30 SECONDS BY symbo] GROUP BY symbol
                                                             ^
----------
SELECT * FROM SESSION(TABLE trades PARTITION BY symbol, DESCRIPTOR(ts))
=>
SqlError: line 1, column 15: SESSION lacks its argument GAP: write SESSION(TABLE s PARTITION BY k, DESCRIPTOR(ts), INTERVAL '30' SECOND)
  SELECT * FROM SESSION(TABLE trades PARTITION BY symbol, DESCRIPTOR(ts))
                ^
----------
SELECT * FROM SESSION(TABLE trades PARTITION BY (symbol, DESCRIPTOR(ts), INTERVAL '30' SECOND)
=>
SqlError: line 1, column 68: expected ) behind the columns of PARTITION BY, got '('
  SELECT * FROM SESSION(TABLE trades PARTITION BY (symbol, DESCRIPTOR(ts), INTERVAL '30' SECOND)
                                                                     ^
----------
SELECT * FROM SESSION(TABLE trades PARTITION BY symbol, DESCRIPTOR(price), INTERVAL '30' SECOND)
=>
SqlError: line 1, column 68: windows are over the event time, ts, not over 'price'
  SELECT * FROM SESSION(TABLE trades PARTITION BY symbol, DESCRIPTOR(price), INTERVAL '30' SECOND)
                                                                     ^
----------
SELECT * FROM trades [SESSION 30 SECONDS BY symbol]
=>
no error
----------
SELECT symbol, COUNT(*) FROM trades [SESSION 30 SECONDS BY symbol] GROUP BY symbol EMIT CHANGES
=>
no error
----------
SELECT symbol, COUNT(*) FROM trades [SESSION 30 SECONDS BY symbol] GROUP BY symbol EMIT SNAPSHOT EVERY 1 MINUTE
=>
no error
----------
SELECT window_end, COUNT(*) FROM trades [SESSION 30 SECONDS BY symbol] GROUP BY window_start, window_end
=>
UnsupportedError: line 1, column 1: GROUP BY lacks symbol, which sessions are of: write SELECT k, window_start, window_end, COUNT(*) FROM s [SESSION 30 SECONDS BY k] GROUP BY k, window_start, window_end
  SELECT window_end, COUNT(*) FROM trades [SESSION 30 SECONDS BY symbol] GROUP BY window_start, window_end
  ^
----------
SELECT symbol, window_end - window_start FROM trades [SESSION 30 SECONDS BY symbol] WHERE window_end > TIMESTAMP '2026-01-01 00:00:00' GROUP BY symbol, window_start, window_end
=>
UnsupportedError: line 1, column 1: window_start and window_end of a session are known when it has ended: they are keys of GROUP BY, and can be read in HAVING and in the select list; EMIT CHANGES has early ones
  SELECT symbol, window_end - window_start FROM trades [SESSION 30 SECONDS BY symbol] WHERE window_end > TIMESTAMP '2026-01-01 00:00:00' GROUP BY symbol, window_start, window_end
  ^
----------
SELECT symbol, MAX(window_end) FROM trades [SESSION 30 SECONDS BY symbol] GROUP BY symbol
=>
UnsupportedError: line 1, column 1: window_start and window_end of a session are known when it has ended: they are keys of GROUP BY, and can be read in HAVING and in the select list; EMIT CHANGES has early ones
  SELECT symbol, MAX(window_end) FROM trades [SESSION 30 SECONDS BY symbol] GROUP BY symbol
  ^
----------
SELECT MAX(n) FROM (SELECT symbol, window_end, COUNT(*) AS n FROM trades [SESSION 30 SECONDS BY symbol] GROUP BY symbol, window_end) AS q GROUP BY symbol
=>
UnsupportedError: line 1, column 1: a second GROUP BY of sessions is not supported: they are grouped alone, write SELECT k, window_start, window_end, COUNT(*) FROM s [SESSION 30 SECONDS BY k] GROUP BY k, window_start, window_end; for more put a window over these groups, as in FROM TUMBLE((SELECT ...), _ts, INTERVAL '1' HOUR), or write EMIT CHANGES for early results
  SELECT MAX(n) FROM (SELECT symbol, window_end, COUNT(*) AS n FROM trades [SESSION 30 SECONDS BY symbol] GROUP BY symbol, window_end) AS q GROUP BY symbol
  ^
----------
SELECT t.symbol, COUNT(*) FROM trades [SESSION 30 SECONDS BY symbol] AS t, quotes [RANGE 1 MINUTE] AS q WHERE t.symbol = q.symbol GROUP BY t.symbol
=>
UnsupportedError: line 1, column 1: a join of sessions is not supported: they are grouped alone, write SELECT k, window_start, window_end, COUNT(*) FROM s [SESSION 30 SECONDS BY k] GROUP BY k, window_start, window_end; for more put a window over these groups, as in FROM TUMBLE((SELECT ...), _ts, INTERVAL '1' HOUR), or write EMIT CHANGES for early results
  SELECT t.symbol, COUNT(*) FROM trades [SESSION 30 SECONDS BY symbol] AS t, quotes [RANGE 1 MINUTE] AS q WHERE t.symbol = q.symbol GROUP BY t.symbol
  ^
----------
SELECT c.sector, t.symbol, COUNT(*) FROM trades [SESSION 30 SECONDS BY symbol] AS t LEFT JOIN companies AS c ON c.symbol = t.symbol GROUP BY c.sector, t.symbol
=>
UnsupportedError: line 1, column 1: UNION ALL below GROUP BY, or a join, of sessions is not supported: they are grouped alone, write SELECT k, window_start, window_end, COUNT(*) FROM s [SESSION 30 SECONDS BY k] GROUP BY k, window_start, window_end; for more put a window over these groups, as in FROM TUMBLE((SELECT ...), _ts, INTERVAL '1' HOUR), or write EMIT CHANGES for early results
  SELECT c.sector, t.symbol, COUNT(*) FROM trades [SESSION 30 SECONDS BY symbol] AS t LEFT JOIN companies AS c ON c.symbol = t.symbol GROUP BY c.sector, t.symbol
  ^
----------
SELECT symbol FROM quotes [RANGE 1 MINUTE] AS q WHERE EXISTS (SELECT 1 FROM trades [SESSION 30 SECONDS BY symbol] AS t WHERE t.symbol = q.symbol)
=>
UnsupportedError: line 1, column 1: EXISTS of sessions is not supported: write SELECT k, window_start, window_end, COUNT(*) FROM s [SESSION 30 SECONDS BY k] GROUP BY k, window_start, window_end, or EMIT CHANGES for early results
  SELECT symbol FROM quotes [RANGE 1 MINUTE] AS q WHERE EXISTS (SELECT 1 FROM trades [SESSION 30 SECONDS BY symbol] AS t WHERE t.symbol = q.symbol)
  ^
----------
SELECT symbol, COUNT(*) AS n FROM trades [SESSION 30 SECONDS BY symbol] GROUP BY symbol UNION ALL SELECT symbol, COUNT(*) AS n FROM quotes [TUMBLE 1 MINUTE] GROUP BY symbol
=>
UnsupportedError: line 1, column 1: UNION ALL with other rows of sessions is not supported: write SELECT k, window_start, window_end, COUNT(*) FROM s [SESSION 30 SECONDS BY k] GROUP BY k, window_start, window_end, or EMIT CHANGES for early results
  SELECT symbol, COUNT(*) AS n FROM trades [SESSION 30 SECONDS BY symbol] GROUP BY symbol UNION ALL SELECT symbol, COUNT(*) AS n FROM quotes [TUMBLE 1 MINUTE] GROUP BY symbol
  ^
----------
SELECT symbol, COUNT(*) FROM TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '30' SECOND) GROUP BY symbol, session_window(ts, '30 seconds')
=>
UnsupportedError: line 1, column 106: the rows are in windows already, beside session_window(...): GROUP BY window_start, window_end instead, or read the stream without its window
  SELECT symbol, COUNT(*) FROM TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '30' SECOND) GROUP BY symbol, session_window(ts, '30 seconds')
                                                                                                           ^
----------
SELECT COUNT(*) FROM trades GROUP BY date_trunc('day', session_window.start), session_window(ts, '30 seconds')
=>
UnsupportedError: line 1, column 79: a key cannot be computed from the session of its rows: use the select list
  SELECT COUNT(*) FROM trades GROUP BY date_trunc('day', session_window.start), session_window(ts, '30 seconds')
                                                                                ^
----------
SELECT COUNT(*) FROM trades GROUP BY session_window(ts, price)
=>
SqlError: line 1, column 57: expected a duration, such as '10 minutes'
  SELECT COUNT(*) FROM trades GROUP BY session_window(ts, price)
                                                          ^
----------
SELECT COUNT(*) FROM trades GROUP BY SESSION_END(ts, INTERVAL '30' SECOND)
=>
SqlError: line 1, column 38: SESSION_END(...) is a column of a window: write GROUP BY SESSION(ts, INTERVAL '30' SECOND)
  SELECT COUNT(*) FROM trades GROUP BY SESSION_END(ts, INTERVAL '30' SECOND)
                                       ^
----------
SELECT symbol FROM trades WHERE session_window(ts, '30 seconds').start IS NULL
=>
SqlError: line 1, column 33: there is no function session_window: write FROM s [SESSION 30 SECONDS BY k] and GROUP BY k, window_start, window_end, the function in FROM, SESSION(TABLE s PARTITION BY k, DESCRIPTOR(ts), INTERVAL '30' SECOND), or GROUP BY k, session_window(ts, '30 seconds')
  SELECT symbol FROM trades WHERE session_window(ts, '30 seconds').start IS NULL
                                  ^
----------
