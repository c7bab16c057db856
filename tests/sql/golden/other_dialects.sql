SELECT MEDIAN(price) FROM trades [NOW]
=>
no error
----------
SELECT percentile(price, 0.5) FROM trades [NOW]
=>
no error
----------
SELECT approx_percentile(price, 0.5) FROM trades [NOW]
=>
no error
----------
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price) FROM trades [NOW]
=>
no error
----------
SELECT first(price) FROM trades [NOW]
=>
no error
----------
SELECT last_value(price) FROM trades [NOW]
=>
no error
----------
SELECT any_value(price) FROM trades [NOW]
=>
no error
----------
SELECT collect_list(price) FROM trades [NOW]
=>
no error
----------
SELECT array_agg(price) FROM trades [NOW]
=>
no error
----------
SELECT string_agg(symbol, ',') FROM trades [NOW]
=>
no error
----------
SELECT approx_count_distinct(price) FROM trades [NOW]
=>
no error
----------
SELECT count_if(price > 1) FROM trades [NOW]
=>
no error
----------
SELECT bool_and(price > 1) FROM trades [NOW]
=>
no error
----------
SELECT variance(price), var_pop(price) FROM trades [NOW]
=>
no error
----------
SELECT stddev_pop(price) FROM trades [NOW]
=>
no error
----------
SELECT corr(price, qty) FROM trades [NOW]
=>
no error
----------
SELECT max_by(symbol, price) FROM trades [NOW]
=>
no error
----------
SELECT sum(DISTINCT qty) FROM trades [NOW]
=>
no error
----------
SELECT window_start, count(*) FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start
=>
no error
----------
SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE), count(*) FROM trades GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)
=>
no error
----------
SELECT count(*) FROM trades GROUP BY HOP(ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)
=>
no error
----------
SELECT count(*) FROM TABLE(HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))
=>
UnsupportedError: line 1, column 1: a group of several windows of HOP 5 MINUTES EVERY 1 MINUTE has no final result: add window_start and window_end to GROUP BY, or write EMIT CHANGES for every change, EMIT SNAPSHOT EVERY for whole answers
  SELECT count(*) FROM TABLE(HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))
  ^
----------
SELECT count(*) FROM HOP(trades, ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)
=>
UnsupportedError: line 1, column 1: a group of several windows of HOP 5 MINUTES EVERY 1 MINUTE has no final result: add window_start and window_end to GROUP BY, or write EMIT CHANGES for every change, EMIT SNAPSHOT EVERY for whole answers
  SELECT count(*) FROM HOP(trades, ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)
  ^
----------
SELECT count(*) FROM TUMBLE(trades, ts, INTERVAL '1' MINUTE)
=>
no error
----------
SELECT count(*) FROM TABLE(CUMULATE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))
=>
UnsupportedError: line 1, column 1: a group of several windows of CUMULATE 5 MINUTES EVERY 1 MINUTE has no final result: add window_start and window_end to GROUP BY, or write EMIT CHANGES for every change, EMIT SNAPSHOT EVERY for whole answers
  SELECT count(*) FROM TABLE(CUMULATE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))
  ^
----------
SELECT count(*) FROM trades GROUP BY SESSION(ts, INTERVAL '5' MINUTE)
=>
no error
----------
SELECT window(ts, '1 minute'), count(*) FROM trades GROUP BY window(ts, '1 minute')
=>
no error
----------
SELECT count(*) FROM trades GROUP BY window(ts, '10 minutes', '5 minutes'), symbol
=>
no error
----------
SELECT window.start, count(*) FROM trades GROUP BY window(ts, '1 minute')
=>
no error
----------
SELECT session_window(ts, '5 minutes'), count(*) FROM trades GROUP BY session_window(ts, '5 minutes')
=>
no error
----------
SELECT time_bucket('1 minute', ts), count(*) FROM trades [NOW] GROUP BY 1
=>
no error
----------
SELECT avg(price) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) FROM trades
=>
no error
----------
SELECT LAG(price) OVER (PARTITION BY symbol ORDER BY ts) FROM trades
=>
no error
----------
SELECT ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY ts DESC) AS rn FROM trades
=>
UnsupportedError: line 1, column 76: OVER needs a window on stream 'trades', or a limit: write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or QUALIFY ROW_NUMBER() OVER (...) <= 3 for the first rows of each partition
  SELECT ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY ts DESC) AS rn FROM trades
                                                                             ^
----------
SELECT LAG(price) FROM trades
=>
SqlError: line 1, column 8: there is no function LAG: write OVER (PARTITION BY k ORDER BY ts) behind it
  SELECT LAG(price) FROM trades
         ^
----------
SELECT * FROM trades QUALIFY ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY ts) = 1
=>
no error
----------
SELECT symbol, price FROM trades ORDER BY price LIMIT 10
=>
no error
----------
SELECT * FROM trades LIMIT 10
=>
SqlError: line 1, column 28: LIMIT needs ORDER BY: which rows are the first ones?
  SELECT * FROM trades LIMIT 10
                             ^
----------
SELECT TOP 10 * FROM trades
=>
UnsupportedError: line 1, column 8: TOP is not supported: write ORDER BY x DESC LIMIT 5 at the end
  SELECT TOP 10 * FROM trades
         ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS price PATTERN (A B+) DEFINE A AS price > 1)
=>
UnsupportedError: line 1, column 22: a pattern with *, + or {n,} needs WITHIN, as in PATTERN (A B+) WITHIN INTERVAL 1 HOUR, so that the rows that are kept are bounded
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS price PATTERN (A B+) DEFINE A AS price > 1)
                       ^
----------
SELECT * FROM trades PIVOT (sum(price) FOR symbol IN ('a', 'b'))
=>
UnsupportedError: line 1, column 22: PIVOT is not supported: write SUM(x) FILTER (WHERE k = 'a') AS a, ... with GROUP BY
  SELECT * FROM trades PIVOT (sum(price) FOR symbol IN ('a', 'b'))
                       ^
----------
SELECT * FROM trades UNPIVOT (price FOR n IN (qty, price))
=>
UnsupportedError: line 1, column 22: UNPIVOT is not supported: write a SELECT for each column, between UNION ALL
  SELECT * FROM trades UNPIVOT (price FOR n IN (qty, price))
                       ^
----------
SELECT * FROM trades, LATERAL (SELECT * FROM orders WHERE orders.qty = trades.qty) q
=>
SqlError: line 1, column 15: a join needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS. Or bound the times of the rows that are joined, as in q.ts <= trades.ts + INTERVAL '10' SECOND AND q.ts >= trades.ts - INTERVAL '10' SECOND
  SELECT * FROM trades, LATERAL (SELECT * FROM orders WHERE orders.qty = trades.qty) q
                ^
----------
SELECT * FROM trades LATERAL VIEW explode(split(symbol, ',')) e AS word
=>
no error
----------
SELECT * FROM trades CROSS JOIN UNNEST(split(symbol, ',')) AS w(word)
=>
no error
----------
SELECT explode(split(symbol, ',')) FROM trades
=>
no error
----------
SELECT split(symbol, ',')[0] FROM trades
=>
no error
----------
SELECT symbol.name FROM trades
=>
SqlError: line 1, column 8: symbol is STRING, which has no fields
  SELECT symbol.name FROM trades
         ^
----------
SELECT named_struct('a', qty) FROM trades
=>
no error
----------
SELECT array(1, 2) FROM trades
=>
no error
----------
SELECT symbol ->> 'a' FROM trades
=>
no error
----------
WITH RECURSIVE r AS (SELECT qty FROM trades UNION ALL SELECT qty + 1 FROM r) SELECT * FROM r
=>
UnsupportedError: line 1, column 16: WITH RECURSIVE is not supported: write plain WITH
  WITH RECURSIVE r AS (SELECT qty FROM trades UNION ALL SELECT qty + 1 FROM r) SELECT * FROM r
                 ^
----------
SELECT timestampdiff(SECOND, ts, ts) FROM trades
=>
no error
----------
SELECT timestampadd(MINUTE, 5, ts) FROM trades
=>
no error
----------
SELECT DATEDIFF(day, ts, ts) FROM trades
=>
no error
----------
SELECT DATE_ADD(ts, INTERVAL 1 DAY) FROM trades
=>
SqlError: line 1, column 8: date_add does not take (TIMESTAMP, INTERVAL); valid: date_add(date, days) or date_add(unit, count, timestamp)
  SELECT DATE_ADD(ts, INTERVAL 1 DAY) FROM trades
         ^
----------
SELECT DATE_ADD(day, 1, ts) FROM trades
=>
no error
----------
SELECT now() - ts FROM trades
=>
SqlError: line 1, column 8: now() here is not supported: it is the query's clock, which WHERE compares with the event time of a stream, as in ts > now() - INTERVAL '5' MINUTE; the time of a result is its _ts
  SELECT now() - ts FROM trades
         ^
----------
SELECT CURRENT_TIMESTAMP FROM trades
=>
UnsupportedError: line 1, column 8: CURRENT_TIMESTAMP here is not supported: it is the query's clock, which WHERE compares with the event time of a stream, as in ts > now() - INTERVAL '5' MINUTE; the time of a result is its _ts
  SELECT CURRENT_TIMESTAMP FROM trades
         ^
----------
SELECT extract(epoch FROM ts) FROM trades
=>
no error
----------
SELECT qty FROM trades FOR SYSTEM_TIME AS OF ts
=>
UnsupportedError: line 1, column 17: FOR SYSTEM_TIME AS OF is not supported for the first item of FROM: there are no rows in front whose time it is
  SELECT qty FROM trades FOR SYSTEM_TIME AS OF ts
                  ^
----------
SELECT * FROM trades JOIN companies FOR SYSTEM_TIME AS OF trades.ts ON trades.symbol = companies.symbol
=>
no error
----------
SELECT qty FROM trades TABLESAMPLE (10 PERCENT)
=>
UnsupportedError: line 1, column 37: TABLESAMPLE is not supported here: ON OVERLOAD SHED drops rows under overload
  SELECT qty FROM trades TABLESAMPLE (10 PERCENT)
                                      ^
----------
SELECT qty FROM trades WHERE qty = ANY (SELECT qty FROM orders)
=>
SqlError: line 1, column 17: IN needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS; or bound the times of the rows that match on both sides, as in WHERE b.k = a.k AND b.ts BETWEEN a.ts - INTERVAL '5' MINUTE AND a.ts
  SELECT qty FROM trades WHERE qty = ANY (SELECT qty FROM orders)
                  ^
----------
SELECT qty FROM trades WHERE qty > (SELECT avg(qty) FROM orders)
=>
SqlError: line 1, column 58: an aggregate needs a window on stream 'orders'; write orders [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT qty FROM trades WHERE qty > (SELECT avg(qty) FROM orders)
                                                           ^
----------
SELECT (SELECT max(qty) FROM orders) FROM trades
=>
SqlError: line 1, column 30: an aggregate needs a window on stream 'orders'; write orders [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT (SELECT max(qty) FROM orders) FROM trades
                               ^
----------
SELECT qty FROM trades WHERE qty NOT IN (SELECT qty FROM orders)
=>
SqlError: line 1, column 17: IN needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS; or bound the times of the rows that match on both sides, as in WHERE b.k = a.k AND b.ts BETWEEN a.ts - INTERVAL '5' MINUTE AND a.ts
  SELECT qty FROM trades WHERE qty NOT IN (SELECT qty FROM orders)
                  ^
----------
SELECT * FROM trades NATURAL JOIN orders
=>
no error
----------
SELECT * FROM trades LEFT SEMI JOIN orders ON trades.qty = orders.qty
=>
SqlError: line 1, column 15: EXISTS needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS; or bound the times of the rows that match on both sides, as in WHERE b.k = a.k AND b.ts BETWEEN a.ts - INTERVAL '5' MINUTE AND a.ts
  SELECT * FROM trades LEFT SEMI JOIN orders ON trades.qty = orders.qty
                ^
----------
SELECT * FROM trades ASOF JOIN orders MATCH_CONDITION (trades.ts >= orders.ts) ON trades.qty = orders.qty
=>
no error
----------
SELECT * EXCEPT (qty) FROM trades
=>
no error
----------
SELECT * REPLACE (qty + 1 AS qty) FROM trades
=>
no error
----------
SELECT count(*) FROM trades [NOW] GROUP BY ROLLUP (symbol)
=>
no error
----------
SELECT count(*) FROM trades [NOW] GROUP BY symbol WITH ROLLUP
=>
no error
----------
SELECT count(*) FROM trades [NOW] GROUP BY GROUPING SETS ((symbol), ())
=>
no error
----------
SELECT count(*) FROM trades [NOW] GROUP BY ALL
=>
no error
----------
SELECT DISTINCT ON (symbol) * FROM trades [NOW]
=>
SqlError: line 1, column 1: DISTINCT ON needs ORDER BY: which row is the first one?
  SELECT DISTINCT ON (symbol) * FROM trades [NOW]
  ^
----------
SELECT * FROM trades.win:time(5 min)
=>
UnsupportedError: line 1, column 21: #time(...) is not supported: write FROM s [RANGE 10 SECONDS]
  SELECT * FROM trades.win:time(5 min)
                      ^
----------
SELECT * FROM trades#time(5 min)
=>
UnsupportedError: line 1, column 21: #time(...) is not supported: write FROM s [RANGE 10 SECONDS]
  SELECT * FROM trades#time(5 min)
                      ^
----------
SELECT * FROM pattern [every a=trades -> b=orders]
=>
UnsupportedError: line 1, column 10: pattern [...] is not supported: write FROM s MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts ... PATTERN (A B) WITHIN INTERVAL '10' SECOND ...), or for what is missing WHERE NOT EXISTS (SELECT ...)
  SELECT * FROM pattern [every a=trades -> b=orders]
           ^
----------
SELECT * FROM trades WINDOW w AS (PARTITION BY symbol)
=>
no error
----------
SELECT * FROM trades [RANGE 5 MINUTES SLIDE 1 MINUTE]
=>
UnsupportedError: line 1, column 39: SLIDE in a window is not supported: write FROM s [HOP 5 MINUTES EVERY 1 MINUTE] and GROUP BY window_start, window_end, or the function in FROM, TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)); FROM s [RANGE 5 MINUTES] slides with every row
  SELECT * FROM trades [RANGE 5 MINUTES SLIDE 1 MINUTE]
                                        ^
----------
SELECT * FROM trades [RANGE 5]
=>
SqlError: line 1, column 29: 5 has no time unit; write for example 5 SECONDS
  SELECT * FROM trades [RANGE 5]
                              ^
----------
SELECT * FROM trades [TUMBLE 5 MINUTES]
=>
no error
----------
SELECT * FROM trades [LAST 5 ROWS]
=>
SqlError: line 1, column 23: unknown window, got 'LAST'; valid: [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED]
  SELECT * FROM trades [LAST 5 ROWS]
                        ^
----------
SELECT * FROM trades [RANGE BETWEEN 5 PRECEDING]
=>
UnsupportedError: line 1, column 29: RANGE BETWEEN is not supported: a window ends now and has a length only: [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED]
  SELECT * FROM trades [RANGE BETWEEN 5 PRECEDING]
                              ^
----------
SELECT * FROM VALUES (1), (2)
=>
SqlError: line 1, column 15: VALUES needs a stream in front of it: FROM s, (VALUES (1, 'a')) AS t (x, y)
  SELECT * FROM VALUES (1), (2)
                ^
----------
SELECT * FROM range(10)
=>
UnsupportedError: line 1, column 15: range(...) in FROM is not supported: name a stream, table, view or query, or write SELECT, or LATERAL range(...) for a function that returns a table
  SELECT * FROM range(10)
                ^
----------
SELECT * FROM (VALUES (1)) AS v(qty)
=>
SqlError: line 1, column 16: VALUES needs a stream in front of it: FROM s, (VALUES (1, 'a')) AS t (x, y)
  SELECT * FROM (VALUES (1)) AS v(qty)
                 ^
----------
SELECT 1
=>
UnsupportedError: line 1, column 1: SELECT without FROM is not supported: read a stream
  SELECT 1
  ^
----------
VALUES (1)
=>
SqlError: line 1, column 1: unknown statement; rows are read from the sources of streams and tables, and written to query sinks
  VALUES (1)
  ^
----------
INSERT INTO trades VALUES (1)
=>
UnsupportedError: line 1, column 1: INSERT INTO ... VALUES is not supported: rows come from the source of a stream or table, or from Engine.process
  INSERT INTO trades VALUES (1)
  ^
----------
INSERT INTO sink SELECT * FROM trades
=>
SqlError: line 1, column 1: unknown statement; write CREATE QUERY name AS SELECT ... WITH (sink = ...)
  INSERT INTO sink SELECT * FROM trades
  ^
----------
CREATE TABLE qty AS SELECT * FROM trades
=>
UnsupportedError: line 1, column 18: CREATE TABLE AS is not supported: write CREATE VIEW, or CREATE QUERY with a sink
  CREATE TABLE qty AS SELECT * FROM trades
                   ^
----------
CREATE OR REPLACE VIEW price AS SELECT 1 FROM trades
=>
UnsupportedError: line 1, column 8: CREATE OR REPLACE is not supported: DROP it first and CREATE it again
  CREATE OR REPLACE VIEW price AS SELECT 1 FROM trades
         ^
----------
CREATE MATERIALIZED VIEW price AS SELECT qty FROM trades
=>
SqlError: line 1, column 8: CREATE what? a query keeps its answer up to date: write CREATE QUERY
  CREATE MATERIALIZED VIEW price AS SELECT qty FROM trades
         ^
----------
CREATE TEMPORARY VIEW price AS SELECT 1 FROM trades
=>
UnsupportedError: line 1, column 1: CREATE TEMPORARY VIEW is not supported: write CREATE VIEW: it is there as long as the engine
  CREATE TEMPORARY VIEW price AS SELECT 1 FROM trades
  ^
----------
CREATE STREAMING TABLE price AS SELECT 1 FROM trades
=>
SqlError: line 1, column 8: CREATE what? did you mean 'STREAM'? valid: QUERY, STREAM, TABLE, VIEW
  CREATE STREAMING TABLE price AS SELECT 1 FROM trades
         ^
----------
CREATE TABLE qty (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka')
=>
UnsupportedError: line 1, column 36: WATERMARK FOR is not supported: write TIMESTAMP BY ts LATENESS 5 SECONDS behind )
  CREATE TABLE qty (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka')
                                     ^
----------
CREATE STREAM z (ts TIMESTAMP, qty INT) WITH (kafka_topic='qty', value_format='json')
=>
SqlError: line 1, column 41: expected TIMESTAMP BY and the column that is the event time of 'z', got 'WITH'
  CREATE STREAM z (ts TIMESTAMP, qty INT) WITH (kafka_topic='qty', value_format='json')
                                          ^
----------
CREATE STREAM z (ts TIMESTAMP NOT NULL, qty INT) TIMESTAMP BY ts
=>
UnsupportedError: line 1, column 31: NOT is not supported: a column has a name and a type, and may be NULL
  CREATE STREAM z (ts TIMESTAMP NOT NULL, qty INT) TIMESTAMP BY ts
                                ^
----------
CREATE STREAM z (ts TIMESTAMP, qty INT PRIMARY KEY) TIMESTAMP BY ts
=>
UnsupportedError: line 1, column 40: PRIMARY KEY is not supported: a column has a name and a type, and may be NULL
  CREATE STREAM z (ts TIMESTAMP, qty INT PRIMARY KEY) TIMESTAMP BY ts
                                         ^
----------
CREATE STREAM z (ts TIMESTAMP, qty ARRAY<INT>) TIMESTAMP BY ts
=>
no error
----------
CREATE STREAM z (ts TIMESTAMP, qty INT) TIMESTAMP BY ts LATENESS 5
=>
SqlError: line 1, column 66: 5 has no time unit; write for example 5 SECONDS
  CREATE STREAM z (ts TIMESTAMP, qty INT) TIMESTAMP BY ts LATENESS 5
                                                                   ^
----------
SET qty TO 1
=>
SqlError: line 1, column 9: expected = and the value of 'qty', got 'TO'
  SET qty TO 1
          ^
----------
SELECT qty FROM trades EMIT FINAL
=>
UnsupportedError: line 1, column 1: EMIT FINAL is for rows of windows that end together: write a window such as s [TUMBLE 1 MINUTE]
  SELECT qty FROM trades EMIT FINAL
  ^
----------
SELECT qty FROM trades EMIT EVERY 1 MINUTE
=>
SqlError: line 1, column 29: unknown EMIT mode; valid: CHANGES, FINAL, INSERTS, SNAPSHOT EVERY 10 SECONDS
  SELECT qty FROM trades EMIT EVERY 1 MINUTE
                              ^
----------
SELECT nth_value(price, 2) FROM trades
=>
SqlError: line 1, column 8: there is no function nth_value: write OVER (PARTITION BY k ORDER BY ts) behind it
  SELECT nth_value(price, 2) FROM trades
         ^
----------
SELECT qty ** 2 FROM trades
=>
SqlError: line 1, column 15: unexpected '2'
  SELECT qty ** 2 FROM trades
                ^
----------
SELECT qty ^ 2, qty & 1, qty | 1, qty << 1 FROM trades
=>
UnsupportedError: line 1, column 8: ^ is not supported: for some it is a power, write power(x, y); for others the bits that differ, (x | y) - (x & y)
  SELECT qty ^ 2, qty & 1, qty | 1, qty << 1 FROM trades
         ^
----------
SELECT lenght(symbol) FROM trades
=>
SqlError: line 1, column 8: there is no function lenght; did you mean 'length'? nearest of 375: length, len, bit_length, element, left, levenshtein, char_length, octet_length
  SELECT lenght(symbol) FROM trades
         ^
----------
SELECT grouping(symbol) FROM trades [NOW] GROUP BY symbol
=>
SqlError: line 1, column 8: grouping needs GROUP BY with GROUPING SETS, ROLLUP or CUBE
  SELECT grouping(symbol) FROM trades [NOW] GROUP BY symbol
         ^
----------
SELECT monotonically_increasing_id() FROM trades
=>
SqlError: line 1, column 8: there is no function monotonically_increasing_id: rows are not numbered: add a column with a number in the source
  SELECT monotonically_increasing_id() FROM trades
         ^
----------
SELECT from_unixtime(qty), to_timestamp(symbol), unix_timestamp(ts) FROM trades
=>
no error
----------
SELECT rand() FROM trades
=>
SqlError: line 1, column 8: rand gives another value in each run, so a replay after a failure would give other answers; compute it before the stream instead
  SELECT rand() FROM trades
         ^
----------
SELECT qty FROM trades WHERE sum(qty) > 1
=>
SqlError: line 1, column 30: aggregate sum is not allowed in WHERE: write HAVING behind GROUP BY
  SELECT qty FROM trades WHERE sum(qty) > 1
                               ^
----------
SELECT SECOND FROM trades
=>
SqlError: line 1, column 8: there is no column 'SECOND'; valid: price, qty, symbol, ts
  SELECT SECOND FROM trades
         ^
----------
SELECT count(DISTINCT qty, symbol) FROM trades [NOW]
=>
no error
----------
SELECT qty AS y FROM trades WHERE y > 1
=>
SqlError: line 1, column 35: there is no column 'y'; valid: price, qty, symbol, ts
  SELECT qty AS y FROM trades WHERE y > 1
                                    ^
----------
SELECT qty FROM trades HAVING qty > 1
=>
SqlError: line 1, column 8: column 'qty' is neither in GROUP BY nor inside an aggregate: add it to GROUP BY, or write MAX(qty) or the like; grouped by: nothing
  SELECT qty FROM trades HAVING qty > 1
         ^
----------
UPDATE trades SET qty = 1
=>
SqlError: line 1, column 1: unknown statement; rows are read from the sources of streams and tables, and written to query sinks
  UPDATE trades SET qty = 1
  ^
----------
DELETE FROM trades
=>
SqlError: line 1, column 1: unknown statement; rows are read from the sources of streams and tables, and written to query sinks
  DELETE FROM trades
  ^
----------
SELECT /*+ BROADCAST(orders) */ qty FROM trades
=>
no error
----------
SELECT STREAM qty FROM trades
=>
SqlError: line 1, column 8: there is no column 'STREAM'; valid: price, qty, symbol, ts
  SELECT STREAM qty FROM trades
         ^
----------
SELECT ISTREAM(qty) FROM trades [NOW]
=>
UnsupportedError: line 1, column 8: SELECT istream is not supported: write EMIT INSERTS, the default, behind the SELECT
  SELECT ISTREAM(qty) FROM trades [NOW]
         ^
----------
SELECT transform(array(1), qty -> qty + 1) FROM trades
=>
no error
----------
SELECT trades.*, PROCTIME() AS at FROM trades
=>
no error
----------
SELECT PROCTIME(1) FROM trades
=>
SqlError: line 1, column 8: PROCTIME() takes no arguments
  SELECT PROCTIME(1) FROM trades
         ^
----------
SELECT PROCTIME() AS at, symbol FROM companies
=>
SqlError: line 1, column 8: PROCTIME() is the event time of the rows of streams, which is not known here: select it in a sub-query
  SELECT PROCTIME() AS at, symbol FROM companies
         ^
----------
SELECT symbol FROM trades WHERE PROCTIME() > ts
=>
SqlError: line 1, column 33: PROCTIME() is the event time of the rows of streams, which is not known here: select it in a sub-query
  SELECT symbol FROM trades WHERE PROCTIME() > ts
                                  ^
----------
SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE (SELECT symbol, ts AS t, PROCTIME() AS p FROM trades), DESCRIPTOR(p), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end
=>
no error
----------
SELECT t.symbol, c.sector FROM (SELECT *, PROCTIME() AS p FROM trades) AS t JOIN companies FOR SYSTEM_TIME AS OF t.p AS c ON c.symbol = t.symbol
=>
no error
----------
SELECT * FROM trades LEFT SEMI JOIN companies ON trades.symbol = companies.symbol
=>
no error
----------
SELECT * FROM trades [RANGE 1 MINUTE] LEFT ANTI JOIN quotes [RANGE 1 MINUTE] ON trades.symbol = quotes.symbol WHERE qty > 1
=>
no error
----------
SELECT * FROM trades LEFT SEMI JOIN companies USING (symbol)
=>
SqlError: line 1, column 37: SEMI JOIN takes ON, with the columns of both sides
  SELECT * FROM trades LEFT SEMI JOIN companies USING (symbol)
                                      ^
----------
SELECT * FROM trades LEFT SEMI JOIN companies
=>
SqlError: line 1, column 37: SEMI JOIN takes ON, with the columns of both sides
  SELECT * FROM trades LEFT SEMI JOIN companies
                                      ^
----------
SELECT * FROM trades LEFT SEMI JOIN companies c ON trades.symbol = c.symbol RIGHT JOIN sectors ON 1 = 1
=>
UnsupportedError: line 1, column 37: SEMI JOIN before a RIGHT or FULL JOIN is not supported: write it in a sub-query in FROM
  SELECT * FROM trades LEFT SEMI JOIN companies c ON trades.symbol = c.symbol RIGHT JOIN sectors ON 1 = 1
                                      ^
----------
SELECT explode(split(symbol, ',')) AS part, explode(split(symbol, ';')) AS other FROM trades
=>
UnsupportedError: line 1, column 45: a SELECT explodes one list: write LATERAL VIEW explode(list) t AS x for each
  SELECT explode(split(symbol, ',')) AS part, explode(split(symbol, ';')) AS other FROM trades
                                              ^
----------
SELECT symbol, explode(split(symbol, ',')) AS part FROM trades WHERE qty > 1
=>
no error
----------
SELECT qty FROM trades WHERE (symbol, qty) = ('A', 1)
=>
no error
----------
SELECT qty FROM trades WHERE (symbol, qty) = ('A', 1, 2)
=>
SqlError: line 1, column 47: tuples of 2 and 3 values are compared
  SELECT qty FROM trades WHERE (symbol, qty) = ('A', 1, 2)
                                                ^
----------
SELECT qty FROM trades WHERE (symbol, qty) IN (('A', 1), 2)
=>
SqlError: line 1, column 58: expected 2 values in parentheses
  SELECT qty FROM trades WHERE (symbol, qty) IN (('A', 1), 2)
                                                           ^
----------
SELECT qty FROM trades WHERE (symbol, qty) < ('A', 1)
=>
UnsupportedError: line 1, column 31: a tuple is not supported: compare it with others by = or IN, also IN (SELECT ...)
  SELECT qty FROM trades WHERE (symbol, qty) < ('A', 1)
                                ^
----------
SELECT qty FROM trades WHERE symbol = ANY(ARRAY['A', 'B']) AND qty = ANY(array(1))
=>
no error
----------
SELECT FLOOR(ts TO HOUR) AS h, FLOOR(price) AS f FROM trades
=>
no error
----------
SELECT symbol::jsonb ->> 'a' AS a FROM trades
=>
no error
----------
SELECT trunc(ts, 'day') FROM trades
=>
SqlError: line 1, column 8: the unit of trunc is a constant: 'year', 'quarter', 'month' or 'week'
  SELECT trunc(ts, 'day') FROM trades
         ^
----------
SELECT trunc(price, qty) FROM trades
=>
SqlError: line 1, column 8: the digits of truncate must be an integer constant, not qty
  SELECT trunc(price, qty) FROM trades
         ^
----------
SELECT price & 1 FROM trades
=>
SqlError: line 1, column 8: & does not take (DOUBLE, INT); valid: integer & integer
  SELECT price & 1 FROM trades
         ^
----------
SELECT substring_index(symbol, symbol, 1) FROM trades
=>
SqlError: line 1, column 8: the separator and the count of substring_index are constants
  SELECT substring_index(symbol, symbol, 1) FROM trades
         ^
----------
SELECT to_json(price) FROM trades
=>
SqlError: line 1, column 8: to_json does not take (DOUBLE); valid: to_json(structure, list or map)
  SELECT to_json(price) FROM trades
         ^
----------
SELECT to_json(struct(ts - ts AS i)) FROM trades
=>
SqlError: line 1, column 8: to_json takes no BINARY and no INTERVAL: STRUCT<i: INTERVAL>
  SELECT to_json(struct(ts - ts AS i)) FROM trades
         ^
----------
SELECT max(array(price)) FROM trades [ROWS 3]
=>
SqlError: line 1, column 8: max needs ordered values, not ARRAY<DOUBLE>
  SELECT max(array(price)) FROM trades [ROWS 3]
         ^
----------
SELECT TOPK(qty, 2) AS t FROM trades GROUP BY symbol WINDOW 1 MINUTE
=>
SqlError: line 1, column 8: there is no function TOPK: write slice(array_agg(x ORDER BY x DESC), 1, 3)
  SELECT TOPK(qty, 2) AS t FROM trades GROUP BY symbol WINDOW 1 MINUTE
         ^
----------
SELECT COLLECT(qty) FROM trades GROUP BY symbol WINDOW 1 MINUTE
=>
SqlError: line 1, column 8: there is no function COLLECT: write array_agg(x), or histogram(x) for the number of each value
  SELECT COLLECT(qty) FROM trades GROUP BY symbol WINDOW 1 MINUTE
         ^
----------
SELECT symbol IS JSON AS j FROM trades
=>
UnsupportedError: line 1, column 8: IS JSON is not supported: write json_exists(x, '$.name') for a field that it must have
  SELECT symbol IS JSON AS j FROM trades
         ^
----------
SELECT IS_JSON(symbol) AS j FROM trades
=>
SqlError: line 1, column 8: there is no function IS_JSON: write json_exists(x, '$.name') for a field that it must have
  SELECT IS_JSON(symbol) AS j FROM trades
         ^
----------
SELECT CEIL(ts TO HOUR) AS c FROM trades
=>
UnsupportedError: line 1, column 8: CEIL to a unit is not supported: write date_trunc('hour', ts) + INTERVAL 1 HOUR
  SELECT CEIL(ts TO HOUR) AS c FROM trades
         ^
----------
SELECT CEIL(price) AS c, CEILING(price) AS d FROM trades
=>
no error
----------
SELECT filter(split(symbol, ','), x => x = 'a') AS f FROM trades
=>
UnsupportedError: line 1, column 40: => in an expression is not supported: a function over elements is written x -> x + 1
  SELECT filter(split(symbol, ','), x => x = 'a') AS f FROM trades
                                         ^
----------
SELECT qty FROM trades WHERE price BETWEEN SYMMETRIC 5 AND 1
=>
UnsupportedError: line 1, column 44: BETWEEN SYMMETRIC is not supported: write BETWEEN least(a, b) AND greatest(a, b)
  SELECT qty FROM trades WHERE price BETWEEN SYMMETRIC 5 AND 1
                                             ^
----------
SELECT jsonb_array_elements(symbol) FROM trades
=>
SqlError: line 1, column 8: there is no function jsonb_array_elements: write UNNEST(from_json(x, 'ARRAY<STRING>')) AS t (value) in FROM
  SELECT jsonb_array_elements(symbol) FROM trades
         ^
----------
SELECT hex(qty) FROM trades
=>
no error
----------
SELECT AS_VALUE(symbol) FROM trades
=>
SqlError: line 1, column 8: there is no function AS_VALUE: a column of GROUP BY is a value, too: leave AS_VALUE out
  SELECT AS_VALUE(symbol) FROM trades
         ^
----------
SELECT MAP['a', 1] AS m FROM trades
=>
SqlError: line 1, column 8: write one position or key in [...]; a map is map(key, value)
  SELECT MAP['a', 1] AS m FROM trades
         ^
----------
SELECT qty FROM trades WHERE (symbol, qty) IN (SELECT symbol, size FROM quotes [NOW]) WINDOW 1 MINUTE
=>
no error
----------
SELECT * EXCEPT (quantity) FROM trades
=>
SqlError: line 1, column 18: there is no column 'quantity' in *; valid: price, qty, symbol, ts
  SELECT * EXCEPT (quantity) FROM trades
                   ^
----------
SELECT t.* REPLACE (qty + 1 AS quantity) FROM trades AS t
=>
SqlError: line 1, column 21: there is no column 'quantity' in *; valid: price, qty, symbol, ts
  SELECT t.* REPLACE (qty + 1 AS quantity) FROM trades AS t
                      ^
----------
SELECT *, COUNT(*) FROM trades [NOW] GROUP BY ALL
=>
UnsupportedError: line 1, column 8: * inside an expression is not supported: name the columns
  SELECT *, COUNT(*) FROM trades [NOW] GROUP BY ALL
         ^
----------
SELECT CAST(ts AS TIME) AS t FROM trades
=>
SqlError: line 1, column 13: unknown type TIME; did you mean 'TIMESTAMP'? valid: ARRAY, BIGINT, BINARY, BOOLEAN, CHAR, DATE, DECIMAL, DOUBLE, FLOAT, INT, INTEGER, LONG, MAP, REAL, SMALLINT, STRING, STRUCT, TIMESTAMP, TINYINT, VARCHAR
  SELECT CAST(ts AS TIME) AS t FROM trades
              ^
----------
SELECT symbol FROM trades [NOW] WHERE price > ANY (SELECT bid FROM quotes [NOW])
=>
no error
----------
