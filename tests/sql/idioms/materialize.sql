CREATE MATERIALIZED VIEW counts AS SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol
=>
SqlError: line 1, column 8: CREATE what? a query keeps its answer up to date: write CREATE QUERY
  CREATE MATERIALIZED VIEW counts AS SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol
         ^
----------
SUBSCRIBE counts
=>
UnsupportedError: line 1, column 1: SUBSCRIBE or TAIL is not supported: write CREATE QUERY name AS SELECT ... EMIT CHANGES; Engine.process returns its changes, and a job writes them to the sink of the query
  SUBSCRIBE counts
  ^
----------
SUBSCRIBE (SELECT symbol FROM trades) WITH (SNAPSHOT = FALSE)
=>
UnsupportedError: line 1, column 1: SUBSCRIBE or TAIL is not supported: write CREATE QUERY name AS SELECT ... EMIT CHANGES; Engine.process returns its changes, and a job writes them to the sink of the query
  SUBSCRIBE (SELECT symbol FROM trades) WITH (SNAPSHOT = FALSE)
  ^
----------
TAIL counts
=>
UnsupportedError: line 1, column 1: SUBSCRIBE or TAIL is not supported: write CREATE QUERY name AS SELECT ... EMIT CHANGES; Engine.process returns its changes, and a job writes them to the sink of the query
  TAIL counts
  ^
----------
CREATE SOURCE z FROM KAFKA CONNECTION kafka (TOPIC 'z') FORMAT JSON
=>
SqlError: line 1, column 8: CREATE what? write CREATE STREAM, or CREATE TABLE
  CREATE SOURCE z FROM KAFKA CONNECTION kafka (TOPIC 'z') FORMAT JSON
         ^
----------
CREATE SOURCE z FROM LOAD GENERATOR AUCTION FOR ALL TABLES
=>
SqlError: line 1, column 8: CREATE what? write CREATE STREAM, or CREATE TABLE
  CREATE SOURCE z FROM LOAD GENERATOR AUCTION FOR ALL TABLES
         ^
----------
CREATE CONNECTION kafka TO KAFKA (BROKER 'localhost:9092')
=>
UnsupportedError: line 1, column 1: CREATE CONNECTION is not supported: where a source is, is said by its options: CREATE STREAM ... WITH (source = 'kafka', kafka.bootstrap.servers = '...')
  CREATE CONNECTION kafka TO KAFKA (BROKER 'localhost:9092')
  ^
----------
CREATE SINK z FROM counts INTO KAFKA CONNECTION kafka (TOPIC 'z') FORMAT JSON ENVELOPE DEBEZIUM
=>
SqlError: line 1, column 8: CREATE what? sinks are options of a query: CREATE QUERY name AS SELECT ... WITH (sink = ...)
  CREATE SINK z FROM counts INTO KAFKA CONNECTION kafka (TOPIC 'z') FORMAT JSON ENVELOPE DEBEZIUM
         ^
----------
CREATE INDEX i ON trades (symbol)
=>
SqlError: line 1, column 8: CREATE what? the engine keeps the indexes that its queries need
  CREATE INDEX i ON trades (symbol)
         ^
----------
CREATE DEFAULT INDEX ON trades
=>
UnsupportedError: line 1, column 1: CREATE INDEX is not supported: the engine keeps those that its queries need
  CREATE DEFAULT INDEX ON trades
  ^
----------
CREATE CLUSTER c (SIZE = 'small')
=>
UnsupportedError: line 1, column 1: CREATE CLUSTER is not supported: all queries are one job, on the cores of Spark
  CREATE CLUSTER c (SIZE = 'small')
  ^
----------
CREATE SECRET s AS 'x'
=>
UnsupportedError: line 1, column 1: CREATE SECRET is not supported: options take the name of an environment variable: password_env, url_env
  CREATE SECRET s AS 'x'
  ^
----------
CREATE TABLE z (id INT NOT NULL)
=>
UnsupportedError: line 1, column 24: NOT is not supported: a column has a name and a type, and may be NULL
  CREATE TABLE z (id INT NOT NULL)
                         ^
----------
SELECT symbol FROM trades WHERE mz_now() <= extract(epoch FROM ts) * 1000 + 300000
=>
UnsupportedError: line 1, column 64: DOUBLE beside now() is not supported: compare it in WHERE, between ANDs, with the event time of a stream and a constant INTERVAL, as in ts > now() - INTERVAL '5' MINUTE
  SELECT symbol FROM trades WHERE mz_now() <= extract(epoch FROM ts) * 1000 + 300000
                                                                 ^
----------
SELECT mz_logical_timestamp() AS t FROM trades
=>
UnsupportedError: line 1, column 8: mz_logical_timestamp() is not supported: write ts > now() - INTERVAL '5' MINUTE in WHERE
  SELECT mz_logical_timestamp() AS t FROM trades
         ^
----------
SELECT symbol FROM trades AS OF 5
=>
UnsupportedError: line 1, column 27: AS OF an instant is not supported: read Query.snapshot() then, or write EMIT SNAPSHOT EVERY 1 MINUTE
  SELECT symbol FROM trades AS OF 5
                            ^
----------
SELECT symbol FROM trades [NOW] OPTIONS (AGGREGATE INPUT GROUP SIZE = 10)
=>
UnsupportedError: line 1, column 33: OPTIONS (...) is not supported: leave it out: plans are chosen by what is measured
  SELECT symbol FROM trades [NOW] OPTIONS (AGGREGATE INPUT GROUP SIZE = 10)
                                  ^
----------
WITH MUTUALLY RECURSIVE r (n INT) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT n FROM r
=>
UnsupportedError: line 1, column 1: WITH MUTUALLY RECURSIVE is not supported: write plain WITH, and join the stream once for each step
  WITH MUTUALLY RECURSIVE r (n INT) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT n FROM r
  ^
----------
EXPLAIN OPTIMIZED PLAN FOR SELECT symbol FROM trades
=>
UnsupportedError: line 1, column 1: EXPLAIN PLAN is not supported: write EXPLAIN SELECT ..., or EXPLAIN q
  EXPLAIN OPTIMIZED PLAN FOR SELECT symbol FROM trades
  ^
----------
SELECT symbol, jsonb_agg(qty) AS q FROM trades [NOW] GROUP BY symbol
=>
SqlError: line 1, column 16: there is no function jsonb_agg: write to_json(array_agg(x))
  SELECT symbol, jsonb_agg(qty) AS q FROM trades [NOW] GROUP BY symbol
                 ^
----------
SHOW CREATE VIEW cheap
=>
UnsupportedError: line 1, column 1: SHOW CREATE is not supported: write DESCRIBE name, or EXPLAIN name of a query
  SHOW CREATE VIEW cheap
  ^
----------
SELECT symbol FROM trades [NOW] AS OF AT LEAST 5
=>
UnsupportedError: line 1, column 33: AS OF an instant is not supported: read Query.snapshot() then, or write EMIT SNAPSHOT EVERY 1 MINUTE
  SELECT symbol FROM trades [NOW] AS OF AT LEAST 5
                                  ^
----------
SELECT list_agg(qty) AS q FROM trades [NOW]
=>
SqlError: line 1, column 8: there is no function list_agg: write array_agg(x)
  SELECT list_agg(qty) AS q FROM trades [NOW]
         ^
----------
