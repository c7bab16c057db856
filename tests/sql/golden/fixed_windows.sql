SELECT * FROM trades [TUMBLE 0 SECONDS]
=>
SqlError: line 1, column 30: a length of TUMBLE must be longer than zero
  SELECT * FROM trades [TUMBLE 0 SECONDS]
                               ^
----------
SELECT * FROM trades [TUMBLE 5]
=>
SqlError: line 1, column 30: 5 has no time unit; write for example 5 SECONDS
  SELECT * FROM trades [TUMBLE 5]
                               ^
----------
SELECT * FROM trades [HOP 5 MINUTES]
=>
SqlError: line 1, column 36: expected EVERY and a duration, as in [HOP 5 MINUTES EVERY 1 MINUTE]; got ']'
  SELECT * FROM trades [HOP 5 MINUTES]
                                     ^
----------
SELECT * FROM trades [HOP 5 MINUTES EVERY 0 SECONDS]
=>
SqlError: line 1, column 43: a length of HOP must be longer than zero
  SELECT * FROM trades [HOP 5 MINUTES EVERY 0 SECONDS]
                                            ^
----------
SELECT * FROM trades [CUMULATE 1 HOUR EVERY 7 MINUTES]
=>
SqlError: line 1, column 32: the size of CUMULATE must be a multiple of its step
  SELECT * FROM trades [CUMULATE 1 HOUR EVERY 7 MINUTES]
                                 ^
----------
SELECT * FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(price), INTERVAL '1' MINUTE))
=>
SqlError: line 1, column 53: windows are over the event time, ts, not over 'price'
  SELECT * FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(price), INTERVAL '1' MINUTE))
                                                      ^
----------
SELECT * FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(tss), INTERVAL '1' MINUTE))
=>
SqlError: line 1, column 53: there is no column 'tss' in 'trades'; the event time is ts
  SELECT * FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(tss), INTERVAL '1' MINUTE))
                                                      ^
----------
SELECT * FROM TABLE(TUMBLE(TABLE trades, INTERVAL '1' MINUTE))
=>
SqlError: line 1, column 21: TUMBLE lacks its argument SIZE: write TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
  SELECT * FROM TABLE(TUMBLE(TABLE trades, INTERVAL '1' MINUTE))
                      ^
----------
SELECT * FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts)))
=>
SqlError: line 1, column 21: TUMBLE lacks its argument SIZE: write TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
  SELECT * FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts)))
                      ^
----------
SELECT * FROM TABLE(HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
=>
SqlError: line 1, column 21: HOP lacks its argument SIZE: write HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE), slide and size
  SELECT * FROM TABLE(HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
                      ^
----------
SELECT * FROM TABLE(CUMULATE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' MINUTE))
=>
SqlError: line 1, column 79: the size of CUMULATE must be a multiple of its step: the step comes first, then the size
  SELECT * FROM TABLE(CUMULATE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' MINUTE))
                                                                                ^
----------
SELECT * FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' SECOND, 5))
=>
SqlError: line 1, column 100: TUMBLE takes no more arguments: TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
  SELECT * FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' SECOND, 5))
                                                                                                     ^
----------
SELECT * FROM TABLE(TUMBLE(DATA => TABLE trades, TIMECOL => DESCRIPTOR(ts), LENGTH => INTERVAL '1' MINUTE))
=>
SqlError: line 1, column 77: TUMBLE takes DATA, TIMECOL, SIZE, OFFSET, each once; got 'LENGTH'
  SELECT * FROM TABLE(TUMBLE(DATA => TABLE trades, TIMECOL => DESCRIPTOR(ts), LENGTH => INTERVAL '1' MINUTE))
                                                                              ^
----------
SELECT * FROM TUMBLE(companies, ts, INTERVAL '1' MINUTE)
=>
SqlError: line 1, column 22: TUMBLE needs a stream: tables have no event time
  SELECT * FROM TUMBLE(companies, ts, INTERVAL '1' MINUTE)
                       ^
----------
SELECT * FROM TUMBLE(nowhere, ts, INTERVAL '1' MINUTE)
=>
SqlError: line 1, column 22: there is no stream, table, view or query 'nowhere'; valid: averages, cheap, companies, limits, orders, quotes, rates, rules, sectors, trades
  SELECT * FROM TUMBLE(nowhere, ts, INTERVAL '1' MINUTE)
                       ^
----------
SELECT * FROM TUMBLE((SELECT symbol, COUNT(*) AS n FROM trades [RANGE 1 MINUTE] GROUP BY symbol), _ts, INTERVAL '1' MINUTE)
=>
UnsupportedError: line 1, column 22: TUMBLE over rows that are taken back is not supported (GROUP BY, windows of rows, NOT EXISTS, tables that change): put the window on the streams below, and group by window_start and window_end
  SELECT * FROM TUMBLE((SELECT symbol, COUNT(*) AS n FROM trades [RANGE 1 MINUTE] GROUP BY symbol), _ts, INTERVAL '1' MINUTE)
                       ^
----------
SELECT * FROM TUMBLE((SELECT a.price FROM trades AS a, quotes AS q WHERE a.symbol = q.symbol), _ts, INTERVAL '1' MINUTE)
=>
SqlError: line 1, column 43: a join needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS. Or bound the times of the rows that are joined, as in q.ts <= a.ts + INTERVAL '10' SECOND AND q.ts >= a.ts - INTERVAL '10' SECOND
  SELECT * FROM TUMBLE((SELECT a.price FROM trades AS a, quotes AS q WHERE a.symbol = q.symbol), _ts, INTERVAL '1' MINUTE)
                                            ^
----------
SELECT * FROM TUMBLE((SELECT price FROM trades), ts, INTERVAL '1' MINUTE)
=>
SqlError: line 1, column 50: there is no column 'ts' here; the event time is _ts
  SELECT * FROM TUMBLE((SELECT price FROM trades), ts, INTERVAL '1' MINUTE)
                                                   ^
----------
SELECT * FROM TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE) [RANGE 5 MINUTES]
=>
SqlError: line 1, column 73: a window function has its window already
  SELECT * FROM TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE) [RANGE 5 MINUTES]
                                                                          ^
----------
SELECT symbol, COUNT(*) FROM trades [HOP 5 MINUTES EVERY 1 MINUTE] GROUP BY symbol
=>
UnsupportedError: line 1, column 1: a group of several windows of HOP 5 MINUTES EVERY 1 MINUTE has no final result: add window_start and window_end to GROUP BY, or write EMIT CHANGES for every change, EMIT SNAPSHOT EVERY for whole answers
  SELECT symbol, COUNT(*) FROM trades [HOP 5 MINUTES EVERY 1 MINUTE] GROUP BY symbol
  ^
----------
SELECT DISTINCT symbol FROM trades [HOP 5 MINUTES EVERY 1 MINUTE]
=>
UnsupportedError: line 1, column 1: a row of several windows of HOP 5 MINUTES EVERY 1 MINUTE has no final result: add window_start and window_end to SELECT DISTINCT, or write EMIT CHANGES for every change, EMIT SNAPSHOT EVERY for whole answers
  SELECT DISTINCT symbol FROM trades [HOP 5 MINUTES EVERY 1 MINUTE]
  ^
----------
SELECT symbol, window_start, COUNT(*) FROM trades [CUMULATE 5 MINUTES EVERY 1 MINUTE] GROUP BY symbol, window_start
=>
UnsupportedError: line 1, column 1: a group of several windows of CUMULATE 5 MINUTES EVERY 1 MINUTE has no final result: add window_start and window_end to GROUP BY, or write EMIT CHANGES for every change, EMIT SNAPSHOT EVERY for whole answers
  SELECT symbol, window_start, COUNT(*) FROM trades [CUMULATE 5 MINUTES EVERY 1 MINUTE] GROUP BY symbol, window_start
  ^
----------
SELECT t.price FROM trades [HOP 5 MINUTES EVERY 1 MINUTE] AS t, quotes [TUMBLE 1 MINUTE] AS q WHERE t.symbol = q.symbol
=>
UnsupportedError: line 1, column 1: rows of HOP 5 MINUTES EVERY 1 MINUTE and TUMBLE 1 MINUTE are joined, whose windows end at different times: add a.window_start = b.window_start AND a.window_end = b.window_end, or write EMIT CHANGES for every change, EMIT SNAPSHOT EVERY for whole answers
  SELECT t.price FROM trades [HOP 5 MINUTES EVERY 1 MINUTE] AS t, quotes [TUMBLE 1 MINUTE] AS q WHERE t.symbol = q.symbol
  ^
----------
SELECT price FROM trades [RANGE 1 MINUTE] EMIT FINAL
=>
UnsupportedError: line 1, column 1: EMIT FINAL is for rows of windows that end together: write a window such as s [TUMBLE 1 MINUTE]
  SELECT price FROM trades [RANGE 1 MINUTE] EMIT FINAL
  ^
----------
SELECT price FROM trades EMIT FINALLY
=>
SqlError: line 1, column 31: unknown EMIT mode; did you mean 'FINAL'? valid: CHANGES, FINAL, INSERTS, SNAPSHOT EVERY 10 SECONDS
  SELECT price FROM trades EMIT FINALLY
                                ^
----------
SELECT symbol, COUNT(*) AS n FROM trades [HOP 5 MINUTES EVERY 1 MINUTE] GROUP BY symbol, window_start, window_end ORDER BY n DESC LIMIT 3
=>
UnsupportedError: line 1, column 1: rows of several windows of HOP 5 MINUTES EVERY 1 MINUTE are ordered together, so their places have no final value: add window_start and window_end to PARTITION BY, or write EMIT CHANGES for every change, EMIT SNAPSHOT EVERY for whole answers
  SELECT symbol, COUNT(*) AS n FROM trades [HOP 5 MINUTES EVERY 1 MINUTE] GROUP BY symbol, window_start, window_end ORDER BY n DESC LIMIT 3
  ^
----------
SELECT symbol, window_end, RANK() OVER (ORDER BY COUNT(*)) AS r FROM trades [CUMULATE 5 MINUTES EVERY 1 MINUTE] GROUP BY symbol, window_start, window_end
=>
UnsupportedError: line 1, column 1: rows of several windows of CUMULATE 5 MINUTES EVERY 1 MINUTE are ordered together, so their places have no final value: add window_start and window_end to PARTITION BY, or write EMIT CHANGES for every change, EMIT SNAPSHOT EVERY for whole answers
  SELECT symbol, window_end, RANK() OVER (ORDER BY COUNT(*)) AS r FROM trades [CUMULATE 5 MINUTES EVERY 1 MINUTE] GROUP BY symbol, window_start, window_end
  ^
----------
SELECT symbol, COUNT(*) FROM trades [TUMBLE 1 MONTH] GROUP BY symbol
=>
no error
----------
SELECT symbol, window_end, COUNT(*) FROM trades [CUMULATE 1 YEAR EVERY 1 QUARTER] GROUP BY symbol, window_end
=>
no error
----------
SELECT COUNT(*) FROM trades [TUMBLE 1 MONTH 15 DAYS]
=>
SqlError: line 1, column 37: a window is of months or of a fixed length, not of both
  SELECT COUNT(*) FROM trades [TUMBLE 1 MONTH 15 DAYS]
                                      ^
----------
SELECT COUNT(*) FROM trades [TUMBLE INTERVAL '1-6' YEAR TO MONTH]
=>
no error
----------
SELECT COUNT(*) FROM trades [HOP 1 MONTH EVERY 1 DAY]
=>
SqlError: line 1, column 34: size and step of HOP are both of months, or both of fixed lengths
  SELECT COUNT(*) FROM trades [HOP 1 MONTH EVERY 1 DAY]
                                   ^
----------
SELECT COUNT(*) FROM trades [HOP 30 DAYS EVERY 1 MONTH]
=>
SqlError: line 1, column 34: size and step of HOP are both of months, or both of fixed lengths
  SELECT COUNT(*) FROM trades [HOP 30 DAYS EVERY 1 MONTH]
                                   ^
----------
SELECT COUNT(*) FROM trades [CUMULATE 1 MONTH EVERY 7 HOURS]
=>
SqlError: line 1, column 39: a step of CUMULATE over months is a day, or a part of it without a rest
  SELECT COUNT(*) FROM trades [CUMULATE 1 MONTH EVERY 7 HOURS]
                                        ^
----------
SELECT COUNT(*) FROM trades [CUMULATE 1 YEAR EVERY 5 MONTHS]
=>
SqlError: line 1, column 39: the size of CUMULATE must be a multiple of its step
  SELECT COUNT(*) FROM trades [CUMULATE 1 YEAR EVERY 5 MONTHS]
                                        ^
----------
SELECT COUNT(*) FROM trades [CUMULATE 1 MONTH EVERY 1 YEAR]
=>
SqlError: line 1, column 39: the size of CUMULATE must be a multiple of its step: the step comes first, then the size
  SELECT COUNT(*) FROM trades [CUMULATE 1 MONTH EVERY 1 YEAR]
                                        ^
----------
SELECT COUNT(*) FROM trades [TUMBLE 0 MONTHS]
=>
SqlError: line 1, column 37: a length of TUMBLE must be longer than zero
  SELECT COUNT(*) FROM trades [TUMBLE 0 MONTHS]
                                      ^
----------
SELECT COUNT(*) FROM trades [TUMBLE 1 DAY OFFSET 1 MONTH]
=>
SqlError: line 1, column 37: an OFFSET of months is for windows of months
  SELECT COUNT(*) FROM trades [TUMBLE 1 DAY OFFSET 1 MONTH]
                                      ^
----------
SELECT COUNT(*) FROM trades [SESSION 1 MONTH]
=>
SqlError: line 1, column 40: a month has no fixed length: write a number of DAYS, not 1 MONTH
  SELECT COUNT(*) FROM trades [SESSION 1 MONTH]
                                         ^
----------
SELECT COUNT(*) FROM trades [RANGE 1 MONTH]
=>
SqlError: line 1, column 36: a month has no fixed length, so rows would not leave in their order: write DAYS, or calendar months as [TUMBLE 1 MONTH]
  SELECT COUNT(*) FROM trades [RANGE 1 MONTH]
                                     ^
----------
SELECT window.start, COUNT(*) FROM trades GROUP BY window(ts, '1 month')
=>
no error
----------
SELECT window.start, COUNT(*) FROM trades GROUP BY window(ts, '1 month', '1 day')
=>
SqlError: line 1, column 52: size and step of HOP are both of months, or both of fixed lengths
  SELECT window.start, COUNT(*) FROM trades GROUP BY window(ts, '1 month', '1 day')
                                                     ^
----------
SELECT window.start, COUNT(*) FROM trades GROUP BY session_window(ts, '1 month')
=>
SqlError: line 1, column 52: a month has no fixed length: write a number of DAYS, not '1 month'
  SELECT window.start, COUNT(*) FROM trades GROUP BY session_window(ts, '1 month')
                                                     ^
----------
SELECT TUMBLE_START(ts, INTERVAL '1' YEAR), COUNT(*) FROM trades GROUP BY TUMBLE(ts, INTERVAL '1' YEAR)
=>
no error
----------
SELECT symbol, n, AVG(n) OVER (PARTITION BY symbol ORDER BY window_start ROWS 5 PRECEDING) AS a FROM (SELECT symbol, window_start, COUNT(*) AS n FROM trades [TUMBLE 1 MINUTE] GROUP BY symbol, window_start)
=>
no error
----------
