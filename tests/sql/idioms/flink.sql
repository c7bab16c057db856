CREATE TABLE z (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'topic' = 'z')
=>
UnsupportedError: line 1, column 42: WATERMARK FOR is not supported: write TIMESTAMP BY ts LATENESS 5 SECONDS behind )
  CREATE TABLE z (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'topic' = 'z')
                                           ^
----------
CREATE TABLE z (id INT, at AS PROCTIME()) WITH ('connector' = 'kafka')
=>
UnsupportedError: line 1, column 28: a column AS PROCTIME() is not supported: there is event time only: the column behind TIMESTAMP BY
  CREATE TABLE z (id INT, at AS PROCTIME()) WITH ('connector' = 'kafka')
                             ^
----------
CREATE TEMPORARY VIEW z AS SELECT symbol FROM trades
=>
UnsupportedError: line 1, column 1: CREATE TEMPORARY VIEW is not supported: write CREATE VIEW: it is there as long as the engine
  CREATE TEMPORARY VIEW z AS SELECT symbol FROM trades
  ^
----------
CREATE TEMPORARY TABLE z (id INT) WITH ('connector' = 'print')
=>
UnsupportedError: line 1, column 1: CREATE TEMPORARY TABLE is not supported: write CREATE TABLE: it is there as long as the engine
  CREATE TEMPORARY TABLE z (id INT) WITH ('connector' = 'print')
  ^
----------
CREATE TABLE z (id INT) WITH ('connector' = 'print')
=>
UnsupportedError: line 1, column 25: WITH ('connector' = ...) is not supported: names of options have no quotes: WITH (source = 'kafka', subscribe = 'topic', format = 'json') of a stream, WITH (sink = ...) of a query
  CREATE TABLE z (id INT) WITH ('connector' = 'print')
                          ^
----------
CREATE TEMPORARY FUNCTION score AS 'com.example.Score' LANGUAGE JAVA
=>
UnsupportedError: line 1, column 1: CREATE TEMPORARY FUNCTION is not supported: write CREATE FUNCTION: it is there as long as the engine
  CREATE TEMPORARY FUNCTION score AS 'com.example.Score' LANGUAGE JAVA
  ^
----------
CREATE FUNCTION score AS 'com.example.Score'
=>
UnsupportedError: line 1, column 1: CREATE FUNCTION name AS 'class' is not supported: write CREATE FUNCTION name(x DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON AS 'module.name'
  CREATE FUNCTION score AS 'com.example.Score'
  ^
----------
INSERT INTO sink SELECT symbol, qty FROM trades
=>
SqlError: line 1, column 1: unknown statement; write CREATE QUERY name AS SELECT ... WITH (sink = ...)
  INSERT INTO sink SELECT symbol, qty FROM trades
  ^
----------
INSERT OVERWRITE sink SELECT symbol, qty FROM trades
=>
SqlError: line 1, column 1: unknown statement; write CREATE QUERY name AS SELECT ... WITH (sink = ...)
  INSERT OVERWRITE sink SELECT symbol, qty FROM trades
  ^
----------
EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT symbol FROM trades; END
=>
UnsupportedError: line 1, column 1: STATEMENT SET is not supported: all queries of a script are one job: write CREATE QUERY for each INSERT
  EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT symbol FROM trades; END
  ^
----------
BEGIN STATEMENT SET
=>
UnsupportedError: line 1, column 1: STATEMENT SET is not supported: all queries of a script are one job: write CREATE QUERY for each INSERT
  BEGIN STATEMENT SET
  ^
----------
SET 'table.exec.state.ttl' = '1 h'
=>
UnsupportedError: line 1, column 1: SET 'option' is not supported: write SET option = value; how long state is kept follows from the windows
  SET 'table.exec.state.ttl' = '1 h'
  ^
----------
SELECT o.id, r.rate FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.proctime AS r ON r.symbol = o.symbol
=>
UnsupportedError: line 1, column 73: ROWTIME is not supported: there is event time only: the column behind TIMESTAMP BY
  SELECT o.id, r.rate FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.proctime AS r ON r.symbol = o.symbol
                                                                          ^
----------
SELECT symbol, TUMBLE_ROWTIME(ts, INTERVAL '1' MINUTE) AS w FROM trades GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE)
=>
SqlError: line 1, column 16: there is no function TUMBLE_ROWTIME: write FROM s [TUMBLE 1 MINUTE] and GROUP BY window_start, window_end, or the function in FROM, TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)); date_trunc('minute', ts) is a key per calendar unit
  SELECT symbol, TUMBLE_ROWTIME(ts, INTERVAL '1' MINUTE) AS w FROM trades GROUP BY symbol, TUMBLE(ts, INTERVAL '1' MINUTE)
                 ^
----------
SELECT symbol, CURRENT_WATERMARK(ts) AS w FROM trades
=>
SqlError: line 1, column 16: there is no function CURRENT_WATERMARK: Engine.stats has the watermarks; the time of a result is its _ts
  SELECT symbol, CURRENT_WATERMARK(ts) AS w FROM trades
                 ^
----------
SELECT DATE_FORMAT(TO_TIMESTAMP_LTZ(qty, 6), 'yyyy') AS d FROM trades
=>
SqlError: line 1, column 20: to_timestamp_ltz of a number takes 0 for seconds, 3 for milliseconds; write timestamp_micros(n) for microseconds
  SELECT DATE_FORMAT(TO_TIMESTAMP_LTZ(qty, 6), 'yyyy') AS d FROM trades
                     ^
----------
SELECT symbol, UUID() AS u FROM trades
=>
SqlError: line 1, column 16: UUID gives another value in each run, so a replay after a failure would give other answers; compute it before the stream instead
  SELECT symbol, UUID() AS u FROM trades
                 ^
----------
SELECT symbol, JSON_OBJECT('a', qty) AS j FROM trades
=>
SqlError: line 1, column 16: there is no function JSON_OBJECT: write named_struct('name', value, ...)
  SELECT symbol, JSON_OBJECT('a', qty) AS j FROM trades
                 ^
----------
SELECT JSON_ARRAYAGG(qty) AS j FROM trades GROUP BY symbol WINDOW 1 MINUTE
=>
SqlError: line 1, column 8: there is no function JSON_ARRAYAGG: write to_json(array_agg(x))
  SELECT JSON_ARRAYAGG(qty) AS j FROM trades GROUP BY symbol WINDOW 1 MINUTE
         ^
----------
SELECT symbol FROM trades GROUP BY HOP_PROCTIME(ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE), symbol
=>
SqlError: line 1, column 36: there is no function HOP_PROCTIME: write FROM s [HOP 5 MINUTES EVERY 1 MINUTE] and GROUP BY window_start, window_end, or the function in FROM, TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)); FROM s [RANGE 5 MINUTES] slides with every row
  SELECT symbol FROM trades GROUP BY HOP_PROCTIME(ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE), symbol
                                     ^
----------
SELECT symbol FROM trades [NOW] WHERE symbol IS JSON
=>
UnsupportedError: line 1, column 39: IS JSON is not supported: write json_exists(x, '$.name') for a field that it must have
  SELECT symbol FROM trades [NOW] WHERE symbol IS JSON
                                        ^
----------
ADD JAR '/opt/udf.jar'
=>
UnsupportedError: line 1, column 1: ADD JAR is not supported: functions are in Python: CREATE FUNCTION name(x DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON AS 'module.name'
  ADD JAR '/opt/udf.jar'
  ^
----------
SELECT JSON_OBJECTAGG(KEY symbol VALUE qty) AS o FROM trades [NOW]
=>
UnsupportedError: line 1, column 8: JSON_OBJECTAGG is not supported: write to_json(map_from_entries(array_agg(struct(k, v))))
  SELECT JSON_OBJECTAGG(KEY symbol VALUE qty) AS o FROM trades [NOW]
         ^
----------
