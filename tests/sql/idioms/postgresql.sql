WITH RECURSIVE r AS (SELECT qty FROM trades UNION ALL SELECT qty + 1 FROM r) SELECT qty FROM r
=>
UnsupportedError: line 1, column 16: WITH RECURSIVE is not supported: write plain WITH
  WITH RECURSIVE r AS (SELECT qty FROM trades UNION ALL SELECT qty + 1 FROM r) SELECT qty FROM r
                 ^
----------
SELECT n FROM generate_series(1, 10) AS g(n)
=>
UnsupportedError: line 1, column 15: generate_series(...) is not supported: write FROM s, UNNEST(sequence(1, 3)) AS t (n)
  SELECT n FROM generate_series(1, 10) AS g(n)
                ^
----------
CREATE MATERIALIZED VIEW v AS SELECT symbol FROM trades
=>
SqlError: line 1, column 8: CREATE what? a query keeps its answer up to date: write CREATE QUERY
  CREATE MATERIALIZED VIEW v AS SELECT symbol FROM trades
         ^
----------
REFRESH MATERIALIZED VIEW v
=>
UnsupportedError: line 1, column 1: REFRESH MATERIALIZED VIEW is not supported: the answer of a query is always up to date: read Query.snapshot()
  REFRESH MATERIALIZED VIEW v
  ^
----------
CREATE OR REPLACE VIEW v AS SELECT symbol FROM trades
=>
UnsupportedError: line 1, column 8: CREATE OR REPLACE is not supported: DROP it first and CREATE it again
  CREATE OR REPLACE VIEW v AS SELECT symbol FROM trades
         ^
----------
CREATE INDEX CONCURRENTLY ON trades (symbol)
=>
SqlError: line 1, column 8: CREATE what? the engine keeps the indexes that its queries need
  CREATE INDEX CONCURRENTLY ON trades (symbol)
         ^
----------
SELECT symbol, array_agg(price ORDER BY ts)[1:3] AS a FROM trades [NOW] GROUP BY symbol
=>
UnsupportedError: line 1, column 45: a part of a list is not supported: write one position, as in list[0]
  SELECT symbol, array_agg(price ORDER BY ts)[1:3] AS a FROM trades [NOW] GROUP BY symbol
                                              ^
----------
SELECT qty FROM trades WHERE symbol @@ to_tsquery('a')
=>
UnsupportedError: line 1, column 37: @@ is not supported: write text RLIKE 'pattern', or contains(text, 'word')
  SELECT qty FROM trades WHERE symbol @@ to_tsquery('a')
                                      ^
----------
SELECT qty FROM trades WHERE qty <@ int4range(1, 5)
=>
UnsupportedError: line 1, column 34: <@ is not supported: write x >= 1 AND x < 5, or array_contains(list, x)
  SELECT qty FROM trades WHERE qty <@ int4range(1, 5)
                                   ^
----------
SELECT symbol::jsonb #>> '{a,b}' AS v FROM trades
=>
UnsupportedError: line 1, column 22: #>> is not supported: write text ->> '$.a.b'
  SELECT symbol::jsonb #>> '{a,b}' AS v FROM trades
                       ^
----------
SELECT jsonb_build_object('a', qty) AS j FROM trades
=>
SqlError: line 1, column 8: there is no function jsonb_build_object: write named_struct('name', value, ...)
  SELECT jsonb_build_object('a', qty) AS j FROM trades
         ^
----------
SELECT symbol::jsonb @> '{"a": 1}' AS c FROM trades
=>
UnsupportedError: line 1, column 22: @> is not supported: write array_contains(list, x), or text ->> '$.a' = 'x' for JSON
  SELECT symbol::jsonb @> '{"a": 1}' AS c FROM trades
                       ^
----------
SELECT age(ts, ts) AS a FROM trades
=>
SqlError: line 1, column 8: there is no function age: write b - a for an INTERVAL, or timestampdiff(SECOND, a, b) for a number
  SELECT age(ts, ts) AS a FROM trades
         ^
----------
SELECT to_char(ts, 'YYYY-MM-DD HH24:MI') AS c FROM trades
=>
UnsupportedError: line 1, column 8: to_char with YYYY, HH24 or MI is not supported: patterns are those of Spark: 'yyyy-MM-dd HH:mm:ss'
  SELECT to_char(ts, 'YYYY-MM-DD HH24:MI') AS c FROM trades
         ^
----------
SELECT qty FROM trades FOR UPDATE
=>
UnsupportedError: line 1, column 1: FOR UPDATE is not supported here: queries only read
  SELECT qty FROM trades FOR UPDATE
  ^
----------
SELECT qty FROM trades TABLESAMPLE BERNOULLI (10)
=>
UnsupportedError: line 1, column 47: TABLESAMPLE is not supported here: ON OVERLOAD SHED drops rows under overload
  SELECT qty FROM trades TABLESAMPLE BERNOULLI (10)
                                                ^
----------
INSERT INTO t SELECT qty FROM trades ON CONFLICT DO NOTHING
=>
UnsupportedError: line 1, column 38: ON CONFLICT is not supported: a sink updates a table: WITH (sink = 'postgres', mode = 'upsert', key = 'k', ...)
  INSERT INTO t SELECT qty FROM trades ON CONFLICT DO NOTHING
                                       ^
----------
LISTEN channel
=>
UnsupportedError: line 1, column 1: LISTEN or NOTIFY is not supported: write CREATE QUERY name AS SELECT ... EMIT CHANGES; Engine.process returns its changes, and a job writes them to the sink of the query
  LISTEN channel
  ^
----------
CREATE TRIGGER t AFTER INSERT ON trades EXECUTE FUNCTION f()
=>
UnsupportedError: line 1, column 1: CREATE TRIGGER is not supported: write CREATE QUERY name AS SELECT ... WITH (sink = 'webhook', url = '...')
  CREATE TRIGGER t AFTER INSERT ON trades EXECUTE FUNCTION f()
  ^
----------
SELECT symbol FROM trades WHERE qty ^ 2 > 9
=>
UnsupportedError: line 1, column 33: ^ is not supported: for some it is a power, write power(x, y); for others the bits that differ, (x | y) - (x & y)
  SELECT symbol FROM trades WHERE qty ^ 2 > 9
                                  ^
----------
SELECT qty FROM trades WHERE (symbol, qty) > ('AAPL', 3)
=>
UnsupportedError: line 1, column 31: a tuple is not supported: compare it with others by = or IN, also IN (SELECT ...)
  SELECT qty FROM trades WHERE (symbol, qty) > ('AAPL', 3)
                                ^
----------
SELECT qty // 2 AS half FROM trades
=>
UnsupportedError: line 1, column 12: // is not supported: write a DIV b for the whole part of a quotient
  SELECT qty // 2 AS half FROM trades
             ^
----------
SELECT symbol, AVG(price) AS p FROM trades SAMPLE BY 1m
=>
UnsupportedError: line 1, column 44: SAMPLE BY is not supported: write FROM s [TUMBLE 10 SECONDS], with GROUP BY window_start, window_end
  SELECT symbol, AVG(price) AS p FROM trades SAMPLE BY 1m
                                             ^
----------
