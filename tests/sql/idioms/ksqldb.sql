SELECT symbol, COUNT(*) AS n FROM trades WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY symbol EMIT CHANGES
=>
UnsupportedError: line 1, column 49: a TUMBLING window is not supported: write FROM s [TUMBLE 1 MINUTE] and GROUP BY window_start, window_end, or the function in FROM, TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)); date_trunc('minute', ts) is a key per calendar unit
  SELECT symbol, COUNT(*) AS n FROM trades WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY symbol EMIT CHANGES
                                                  ^
----------
SELECT symbol, COUNT(*) AS n FROM trades WINDOW HOPPING (SIZE 5 MINUTES, ADVANCE BY 1 MINUTE) GROUP BY symbol EMIT CHANGES
=>
UnsupportedError: line 1, column 49: a HOPPING window is not supported: write FROM s [HOP 5 MINUTES EVERY 1 MINUTE] and GROUP BY window_start, window_end, or the function in FROM, TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)); FROM s [RANGE 5 MINUTES] slides with every row
  SELECT symbol, COUNT(*) AS n FROM trades WINDOW HOPPING (SIZE 5 MINUTES, ADVANCE BY 1 MINUTE) GROUP BY symbol EMIT CHANGES
                                                  ^
----------
SELECT symbol, COUNT(*) AS n FROM trades WINDOW SESSION (30 SECONDS) GROUP BY symbol EMIT CHANGES
=>
UnsupportedError: line 1, column 42: WINDOW SESSION (...) is not supported: write FROM s [SESSION 30 SECONDS BY k], with GROUP BY k, window_start, window_end
  SELECT symbol, COUNT(*) AS n FROM trades WINDOW SESSION (30 SECONDS) GROUP BY symbol EMIT CHANGES
                                           ^
----------
SELECT symbol, COUNT(*) AS n FROM trades WINDOW TUMBLING (SIZE 1 MINUTE, GRACE PERIOD 10 SECONDS) GROUP BY symbol EMIT FINAL
=>
UnsupportedError: line 1, column 74: GRACE PERIOD is not supported: how late rows may be is of the stream: CREATE STREAM ... LATENESS 10 SECONDS
  SELECT symbol, COUNT(*) AS n FROM trades WINDOW TUMBLING (SIZE 1 MINUTE, GRACE PERIOD 10 SECONDS) GROUP BY symbol EMIT FINAL
                                                                           ^
----------
CREATE TABLE counts AS SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol EMIT CHANGES
=>
UnsupportedError: line 1, column 21: CREATE TABLE AS is not supported: write CREATE VIEW, or CREATE QUERY with a sink
  CREATE TABLE counts AS SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol EMIT CHANGES
                      ^
----------
CREATE STREAM large AS SELECT * FROM trades WHERE qty > 10 EMIT CHANGES
=>
UnsupportedError: line 1, column 1: CREATE STREAM AS SELECT is not supported: write CREATE VIEW name AS SELECT ..., or CREATE QUERY with a sink
  CREATE STREAM large AS SELECT * FROM trades WHERE qty > 10 EMIT CHANGES
  ^
----------
CREATE STREAM IF NOT EXISTS z (id INT) WITH (kafka_topic = 'z', value_format = 'json')
=>
UnsupportedError: line 1, column 1: CREATE STREAM IF NOT EXISTS is not supported: write CREATE STREAM name; if there may be one already, DROP STREAM name first
  CREATE STREAM IF NOT EXISTS z (id INT) WITH (kafka_topic = 'z', value_format = 'json')
  ^
----------
CREATE OR REPLACE STREAM z (id INT KEY, v INT) WITH (kafka_topic = 'z', value_format = 'json')
=>
UnsupportedError: line 1, column 29: KEY of a column is not supported: a column has a name and a type; the key of a message is key STRING METADATA FROM 'key'
  CREATE OR REPLACE STREAM z (id INT KEY, v INT) WITH (kafka_topic = 'z', value_format = 'json')
                              ^
----------
CREATE STREAM z (id INT KEY, v INT) WITH (kafka_topic = 'z', value_format = 'json', timestamp = 'v')
=>
UnsupportedError: line 1, column 18: KEY of a column is not supported: a column has a name and a type; the key of a message is key STRING METADATA FROM 'key'
  CREATE STREAM z (id INT KEY, v INT) WITH (kafka_topic = 'z', value_format = 'json', timestamp = 'v')
                   ^
----------
CREATE SOURCE TABLE z (id INT PRIMARY KEY) WITH (kafka_topic = 'z', value_format = 'json')
=>
SqlError: line 1, column 8: CREATE what? write CREATE STREAM, or CREATE TABLE
  CREATE SOURCE TABLE z (id INT PRIMARY KEY) WITH (kafka_topic = 'z', value_format = 'json')
         ^
----------
INSERT INTO trades SELECT * FROM orders EMIT CHANGES
=>
SqlError: line 1, column 1: unknown statement; write CREATE QUERY name AS SELECT ... WITH (sink = ...)
  INSERT INTO trades SELECT * FROM orders EMIT CHANGES
  ^
----------
INSERT INTO trades (symbol, qty) VALUES ('a', 1)
=>
UnsupportedError: line 1, column 1: INSERT INTO ... VALUES is not supported: rows come from the source of a stream or table, or from Engine.process
  INSERT INTO trades (symbol, qty) VALUES ('a', 1)
  ^
----------
SELECT t.qty, q.bid FROM trades t INNER JOIN quotes q WITHIN 5 MINUTES ON t.symbol = q.symbol EMIT CHANGES
=>
UnsupportedError: line 1, column 55: WITHIN of a join is not supported: give the times in ON, as in a.ts BETWEEN b.ts - INTERVAL '5' MINUTE AND b.ts + INTERVAL '5' MINUTE, or windows, as in a [RANGE 5 MINUTES] JOIN b [RANGE 5 MINUTES] ON ...
  SELECT t.qty, q.bid FROM trades t INNER JOIN quotes q WITHIN 5 MINUTES ON t.symbol = q.symbol EMIT CHANGES
                                                        ^
----------
SELECT t.qty, q.bid FROM trades t LEFT JOIN quotes q WITHIN (1 MINUTE, 5 MINUTES) GRACE PERIOD 1 HOUR ON t.symbol = q.symbol EMIT CHANGES
=>
UnsupportedError: line 1, column 54: WITHIN of a join is not supported: give the times in ON, as in a.ts BETWEEN b.ts - INTERVAL '5' MINUTE AND b.ts + INTERVAL '5' MINUTE, or windows, as in a [RANGE 5 MINUTES] JOIN b [RANGE 5 MINUTES] ON ...
  SELECT t.qty, q.bid FROM trades t LEFT JOIN quotes q WITHIN (1 MINUTE, 5 MINUTES) GRACE PERIOD 1 HOUR ON t.symbol = q.symbol EMIT CHANGES
                                                       ^
----------
SELECT * FROM trades PARTITION BY symbol EMIT CHANGES
=>
UnsupportedError: line 1, column 10: PARTITION BY behind a stream is not supported: rows go where the queries need them; for the last rows of each key write FROM s [PARTITION BY k ROWS 1]
  SELECT * FROM trades PARTITION BY symbol EMIT CHANGES
           ^
----------
SELECT symbol, LATEST_BY_OFFSET(price) AS p FROM trades GROUP BY symbol EMIT CHANGES
=>
SqlError: line 1, column 16: there is no function LATEST_BY_OFFSET: write last(value)
  SELECT symbol, LATEST_BY_OFFSET(price) AS p FROM trades GROUP BY symbol EMIT CHANGES
                 ^
----------
SELECT symbol, COLLECT_LIST(price) AS p, WINDOWSTART AS w FROM trades [NOW] GROUP BY symbol EMIT CHANGES
=>
UnsupportedError: line 1, column 42: WINDOWSTART is not supported: write window_start, window_end
  SELECT symbol, COLLECT_LIST(price) AS p, WINDOWSTART AS w FROM trades [NOW] GROUP BY symbol EMIT CHANGES
                                           ^
----------
SELECT ROWTIME, symbol FROM trades EMIT CHANGES
=>
UnsupportedError: line 1, column 8: ROWTIME is not supported: there is event time only: the column behind TIMESTAMP BY
  SELECT ROWTIME, symbol FROM trades EMIT CHANGES
         ^
----------
SELECT TIMESTAMPTOSTRING(ts, 'yyyy-MM-dd') AS d FROM trades EMIT CHANGES
=>
SqlError: line 1, column 8: there is no function TIMESTAMPTOSTRING: write date_format(ts, 'pattern')
  SELECT TIMESTAMPTOSTRING(ts, 'yyyy-MM-dd') AS d FROM trades EMIT CHANGES
         ^
----------
SELECT EXTRACTJSONFIELD(symbol, '$.a') AS a FROM trades EMIT CHANGES
=>
SqlError: line 1, column 8: there is no function EXTRACTJSONFIELD: write json_value(text, '$.field') or text ->> 'field'
  SELECT EXTRACTJSONFIELD(symbol, '$.a') AS a FROM trades EMIT CHANGES
         ^
----------
SELECT symbol, price FROM trades EMIT CHANGES LIMIT 10
=>
UnsupportedError: line 1, column 34: LIMIT behind EMIT is not supported: a standing query has no last row; for the first ones by an order write ORDER BY x DESC LIMIT 10 in front of EMIT
  SELECT symbol, price FROM trades EMIT CHANGES LIMIT 10
                                   ^
----------
