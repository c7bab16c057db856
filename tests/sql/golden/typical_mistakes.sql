SELECT t.symbol, q.bid FROM trades AS t, quotes AS q WHERE t.symbol = q.symbol
=>
SqlError: line 1, column 29: a join needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS. Or bound the times of the rows that are joined, as in q.ts <= t.ts + INTERVAL '10' SECOND AND q.ts >= t.ts - INTERVAL '10' SECOND
  SELECT t.symbol, q.bid FROM trades AS t, quotes AS q WHERE t.symbol = q.symbol
                              ^
----------
SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol ORDER BY n DESC
=>
UnsupportedError: line 1, column 67: ORDER BY without LIMIT is not supported: the answer of a standing query is a bag of rows: sort it when you read it
  SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol ORDER BY n DESC
                                                                    ^
----------
SELECT symbol, price, COUNT(*) AS n FROM trades [RANGE 1 MINUTE] GROUP BY symbol
=>
SqlError: line 1, column 16: column 'price' is neither in GROUP BY nor inside an aggregate: add it to GROUP BY, or write MAX(price) or the like; grouped by: symbol
  SELECT symbol, price, COUNT(*) AS n FROM trades [RANGE 1 MINUTE] GROUP BY symbol
                 ^
----------
SELECT symbol FROM trades WHERE COUNT(*) > 3 GROUP BY symbol
=>
SqlError: line 1, column 33: aggregate COUNT is not allowed in WHERE: write HAVING behind GROUP BY
  SELECT symbol FROM trades WHERE COUNT(*) > 3 GROUP BY symbol
                                  ^
----------
SELECT symbol FROM trades WHERE symbol = "A"
=>
SqlError: line 1, column 42: there is no column 'A': double quotes quote names; if this is text, write 'A' in single quotes; valid: price, qty, symbol, ts
  SELECT symbol FROM trades WHERE symbol = "A"
                                           ^
----------
SELECT symbol FROM trade WHERE price > 10
=>
SqlError: line 1, column 20: there is no stream, table, view or query 'trade'; did you mean 'trades'? valid: averages, cheap, companies, limits, orders, quotes, rates, rules, sectors, trades
  SELECT symbol FROM trade WHERE price > 10
                     ^
----------
SELECT prise FROM trades
=>
SqlError: line 1, column 8: there is no column 'prise'; did you mean 'price'? valid: price, qty, symbol, ts
  SELECT prise FROM trades
         ^
----------
SELECT symbol FROM trades [5 MINUTES]
=>
SqlError: line 1, column 28: unknown window, got '5'; valid: [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED]
  SELECT symbol FROM trades [5 MINUTES]
                             ^
----------
SELECT symbol FROM trades [RANGE 5]
=>
SqlError: line 1, column 34: 5 has no time unit; write for example 5 SECONDS
  SELECT symbol FROM trades [RANGE 5]
                                   ^
----------
SELECT symbol FROM trades [RANGE 5 MINUTE SLIDE 1 MINUTE]
=>
UnsupportedError: line 1, column 43: SLIDE in a window is not supported: write FROM s [HOP 5 MINUTES EVERY 1 MINUTE] and GROUP BY window_start, window_end, or the function in FROM, TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)); FROM s [RANGE 5 MINUTES] slides with every row
  SELECT symbol FROM trades [RANGE 5 MINUTE SLIDE 1 MINUTE]
                                            ^
----------
SELECT symbol FROM trades [RANGE 1 MONTH]
=>
SqlError: line 1, column 34: a month has no fixed length, so rows would not leave in their order: write DAYS, or calendar months as [TUMBLE 1 MONTH]
  SELECT symbol FROM trades [RANGE 1 MONTH]
                                   ^
----------
SELECT symbol FROM trades WHERE price > '10'
=>
SqlError: line 1, column 33: DOUBLE and STRING have no common type; CAST one of them to the other
  SELECT symbol FROM trades WHERE price > '10'
                                  ^
----------
SELECT symbol FROM trades WHERE ts > '2026-01-32'
=>
SqlError: line 1, column 33: '2026-01-32' is not a valid TIMESTAMP; write it like '2026-01-31' or '2026-01-31 12:30:00.5Z'
  SELECT symbol FROM trades WHERE ts > '2026-01-32'
                                  ^
----------
SELECT symbol FROM trades LIMIT 10
=>
SqlError: line 1, column 33: LIMIT needs ORDER BY: which rows are the first ones?
  SELECT symbol FROM trades LIMIT 10
                                  ^
----------
SELECT symbol FROM trades ORDER BY price
=>
UnsupportedError: line 1, column 36: ORDER BY without LIMIT is not supported: the answer of a standing query is a bag of rows: sort it when you read it
  SELECT symbol FROM trades ORDER BY price
                                     ^
----------
SELECT t.symbol FROM trades AS t LEFT JOIN quotes AS q ON t.symbol = q.symbol
=>
SqlError: line 1, column 22: LEFT JOIN needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT t.symbol FROM trades AS t LEFT JOIN quotes AS q ON t.symbol = q.symbol
                       ^
----------
SELECT symbol, AVG(price) OVER (PARTITION BY symbol) AS mean FROM trades
=>
SqlError: line 1, column 67: OVER needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT symbol, AVG(price) OVER (PARTITION BY symbol) AS mean FROM trades
                                                                    ^
----------
SELECT symbol, LEAD(price) OVER (PARTITION BY symbol ORDER BY ts) AS next FROM trades
=>
SqlError: line 1, column 80: OVER needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT symbol, LEAD(price) OVER (PARTITION BY symbol ORDER BY ts) AS next FROM trades
                                                                                 ^
----------
SELECT window_start, symbol, COUNT(*) FROM trades GROUP BY symbol, window_start
=>
SqlError: line 1, column 68: there is no column 'window_start', which rows of a window such as [TUMBLE 1 MINUTE] have; valid: price, qty, symbol, ts
  SELECT window_start, symbol, COUNT(*) FROM trades GROUP BY symbol, window_start
                                                                     ^
----------
SELECT symbol FROM trades WHERE ts > current_date
=>
UnsupportedError: line 1, column 38: CURRENT_DATE is not supported: a replay would give another value: use the event time of the stream
  SELECT symbol FROM trades WHERE ts > current_date
                                       ^
----------
SELECT now() AS seen, symbol FROM trades
=>
SqlError: line 1, column 8: now() here is not supported: it is the query's clock, which WHERE compares with the event time of a stream, as in ts > now() - INTERVAL '5' MINUTE; the time of a result is its _ts
  SELECT now() AS seen, symbol FROM trades
         ^
----------
SELECT symbol, rand() AS r FROM trades
=>
SqlError: line 1, column 16: rand gives another value in each run, so a replay after a failure would give other answers; compute it before the stream instead
  SELECT symbol, rand() AS r FROM trades
                 ^
----------
SELECT uper(symbol) FROM trades
=>
SqlError: line 1, column 8: there is no function uper; did you mean 'upper'? nearest of 375: upper, power, quarter, year, hour, unhex, ucase, space
  SELECT uper(symbol) FROM trades
         ^
----------
SELECT symbol, SUM(symbol) AS s FROM trades [RANGE 1 MINUTE] GROUP BY symbol
=>
SqlError: line 1, column 16: sum needs numbers, not STRING; CAST the argument
  SELECT symbol, SUM(symbol) AS s FROM trades [RANGE 1 MINUTE] GROUP BY symbol
                 ^
----------
SELECT DISTINCT ON (symbol) symbol, price FROM trades
=>
SqlError: line 1, column 1: DISTINCT ON needs ORDER BY: which row is the first one?
  SELECT DISTINCT ON (symbol) symbol, price FROM trades
  ^
----------
SELECT symbol FROM trades UNION SELECT bid FROM quotes WINDOW 1 MINUTE
=>
SqlError: line 1, column 33: column 1 of UNION: STRING and DOUBLE have no common type; CAST one of them to the other
  SELECT symbol FROM trades UNION SELECT bid FROM quotes WINDOW 1 MINUTE
                                  ^
----------
SELECT symbol FROM trades WHERE symbol IN (SELECT symbol FROM quotes)
=>
SqlError: line 1, column 20: IN needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS; or bound the times of the rows that match on both sides, as in WHERE b.k = a.k AND b.ts BETWEEN a.ts - INTERVAL '5' MINUTE AND a.ts
  SELECT symbol FROM trades WHERE symbol IN (SELECT symbol FROM quotes)
                     ^
----------
SELECT a.symbol FROM trades [RANGE 1 MINUTE] AS a, trades [RANGE 1 MINUTE] AS a WHERE a.symbol = a.symbol
=>
SqlError: line 1, column 52: two FROM items are named 'a'; rename one with AS
  SELECT a.symbol FROM trades [RANGE 1 MINUTE] AS a, trades [RANGE 1 MINUTE] AS a WHERE a.symbol = a.symbol
                                                     ^
----------
SELECT symbol FROM trades AS t WHERE trades.price > 1
=>
SqlError: line 1, column 38: 'trades' is not in FROM; valid: t
  SELECT symbol FROM trades AS t WHERE trades.price > 1
                                       ^
----------
SELECT symbol FROM trades EMIT FINAL
=>
UnsupportedError: line 1, column 1: EMIT FINAL is for rows of windows that end together: write a window such as s [TUMBLE 1 MINUTE]
  SELECT symbol FROM trades EMIT FINAL
  ^
----------
SELECT symbol FROM trades EMIT CHANGE
=>
SqlError: line 1, column 32: unknown EMIT mode; did you mean 'CHANGES'? valid: CHANGES, FINAL, INSERTS, SNAPSHOT EVERY 10 SECONDS
  SELECT symbol FROM trades EMIT CHANGE
                                 ^
----------
CREATE STREAM s (ts TIMESTAMP, x INT)
=>
SqlError: line 1, column 37: expected TIMESTAMP BY and the column that is the event time of 's', but the statement ends
  CREATE STREAM s (ts TIMESTAMP, x INT)
                                      ^
----------
CREATE STREAM s (ts BIGINT, x INT) TIMESTAMP BY ts
=>
SqlError: line 1, column 49: TIMESTAMP BY needs a TIMESTAMP column, but this is ts BIGINT; if its values are numbers, declare it TIMESTAMP and their unit, as in WITH (ts_unit = 'ms')
  CREATE STREAM s (ts BIGINT, x INT) TIMESTAMP BY ts
                                                  ^
----------
CREATE TABLE s (id INT PRIMARY KEY, x INT)
=>
UnsupportedError: line 1, column 24: PRIMARY KEY is not supported: a column has a name and a type, and may be NULL
  CREATE TABLE s (id INT PRIMARY KEY, x INT)
                         ^
----------
CREATE STREAM s (ts TIMESTAMP, x INT) TIMESTAMP BY ts WITH (source 'csv')
=>
SqlError: line 1, column 68: expected = behind option 'source', got 'csv'
  CREATE STREAM s (ts TIMESTAMP, x INT) TIMESTAMP BY ts WITH (source 'csv')
                                                                     ^
----------
CREATE QUERY q AS SELECT symbol FROM trades WITH (sink = parquet)
=>
SqlError: line 1, column 58: option 'sink' takes a 'text', a number, TRUE or FALSE, got 'parquet'; a text has single quotes, 'parquet'
  CREATE QUERY q AS SELECT symbol FROM trades WITH (sink = parquet)
                                                           ^
----------
INSERT INTO trades VALUES (1, 2)
=>
UnsupportedError: line 1, column 1: INSERT INTO ... VALUES is not supported: rows come from the source of a stream or table, or from Engine.process
  INSERT INTO trades VALUES (1, 2)
  ^
----------
CREATE MATERIALIZED VIEW v AS SELECT symbol FROM trades
=>
SqlError: line 1, column 8: CREATE what? a query keeps its answer up to date: write CREATE QUERY
  CREATE MATERIALIZED VIEW v AS SELECT symbol FROM trades
         ^
----------
CREATE OR REPLACE VIEW v AS SELECT symbol FROM trades
=>
UnsupportedError: line 1, column 8: CREATE OR REPLACE is not supported: DROP it first and CREATE it again
  CREATE OR REPLACE VIEW v AS SELECT symbol FROM trades
         ^
----------
SELECT symbol FROM trades WHERE symbol LIKE 'A%
=>
SqlError: line 1, column 45: this quote has no end: ' is missing
  SELECT symbol FROM trades WHERE symbol LIKE 'A%
                                              ^
----------
SELECT symbol price qty FROM trades
=>
SqlError: line 1, column 21: unexpected 'qty'; is a comma or a word missing in front of it?
  SELECT symbol price qty FROM trades
                      ^
----------
SELECT symbol, FROM trades
=>
SqlError: line 1, column 16: expected another item behind ',', got 'FROM'
  SELECT symbol, FROM trades
                 ^
----------
SELECT symbol FROM trades WHERE price > 10 && qty > 1
=>
SqlError: line 1, column 44: unexpected '&&': write AND
  SELECT symbol FROM trades WHERE price > 10 && qty > 1
                                             ^
----------
SELECT symbol FROM trades JOIN companies ON symbol = symbol
=>
SqlError: line 1, column 45: column 'symbol' is ambiguous; valid: trades.symbol, companies.symbol
  SELECT symbol FROM trades JOIN companies ON symbol = symbol
                                              ^
----------
