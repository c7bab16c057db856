SELECT price > (SELECT 1 FROM quotes) FROM trades
=>
UnsupportedError: line 1, column 17: a sub-query in an expression must have one row, and this one may have several: write an aggregate, as in (SELECT MAX(x) FROM ...), or join it in FROM
  SELECT price > (SELECT 1 FROM quotes) FROM trades
                  ^
----------
SELECT price FROM trades
ORDER BY price
=>
UnsupportedError: line 2, column 10: ORDER BY without LIMIT is not supported: the answer of a standing query is a bag of rows: sort it when you read it
  ORDER BY price
           ^
----------
SELECT price FROM trades LIMIT 10
=>
SqlError: line 1, column 32: LIMIT needs ORDER BY: which rows are the first ones?
  SELECT price FROM trades LIMIT 10
                                 ^
----------
SELECT SUM(price) OVER (PARTITION BY symbol) FROM trades
=>
SqlError: line 1, column 51: OVER needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT SUM(price) OVER (PARTITION BY symbol) FROM trades
                                                    ^
----------
SELECT price FROM trades WINDOW w AS (PARTITION BY symbol)
=>
no error
----------
SELECT price FROM trades QUALIFY price > 1
=>
SqlError: line 1, column 34: QUALIFY needs a value with OVER: write WHERE
  SELECT price FROM trades QUALIFY price > 1
                                   ^
----------
SELECT price FROM trades LATERAL VIEW EXPLODE(symbol) t AS x
=>
SqlError: line 1, column 47: EXPLODE needs an ARRAY or a MAP, not STRING
  SELECT price FROM trades LATERAL VIEW EXPLODE(symbol) t AS x
                                                ^
----------
SELECT symbol FROM trades [NOW] GROUP BY ROLLUP (CUBE (symbol, price))
=>
SqlError: line 1, column 55: expecting )
  SELECT symbol FROM trades [NOW] GROUP BY ROLLUP (CUBE (symbol, price))
                                                        ^
----------
SELECT DISTINCT ON (symbol) price FROM trades [NOW]
=>
SqlError: line 1, column 1: DISTINCT ON needs ORDER BY: which row is the first one?
  SELECT DISTINCT ON (symbol) price FROM trades [NOW]
  ^
----------
SELECT /*+ BROADCAST(companies) */ price FROM trades
=>
no error
----------
SELECT price FROM trades TABLESAMPLE (10 PERCENT)
=>
UnsupportedError: line 1, column 39: TABLESAMPLE is not supported here: ON OVERLOAD SHED drops rows under overload
  SELECT price FROM trades TABLESAMPLE (10 PERCENT)
                                        ^
----------
SELECT price FROM trades PIVOT (SUM(price) FOR symbol IN ('a'))
=>
UnsupportedError: line 1, column 26: PIVOT is not supported: write SUM(x) FILTER (WHERE k = 'a') AS a, ... with GROUP BY
  SELECT price FROM trades PIVOT (SUM(price) FOR symbol IN ('a'))
                           ^
----------
SELECT price FROM trades VERSION AS OF 3
=>
UnsupportedError: line 1, column 19: FOR SYSTEM_TIME AS OF is not supported for the first item of FROM: there are no rows in front whose time it is
  SELECT price FROM trades VERSION AS OF 3
                    ^
----------
SELECT price FROM trades FOR UPDATE
=>
UnsupportedError: line 1, column 1: FOR UPDATE is not supported here: queries only read
  SELECT price FROM trades FOR UPDATE
  ^
----------
SELECT price FROM db.trades
=>
UnsupportedError: line 1, column 19: a qualified name is not supported here: there are no databases and schemas: write the plain name
  SELECT price FROM db.trades
                    ^
----------
SELECT price FROM (trades [NOW] JOIN quotes [NOW] ON TRUE) AS j
=>
UnsupportedError: line 1, column 63: an alias of a join in parentheses is not supported: use the names of its items, or write (SELECT ... FROM ...) AS name
  SELECT price FROM (trades [NOW] JOIN quotes [NOW] ON TRUE) AS j
                                                                ^
----------
SELECT price FROM (trades JOIN quotes ON TRUE WINDOW 5 SECONDS)
=>
UnsupportedError: line 1, column 47: WINDOW is not supported here: write it at the end of the whole SELECT
  SELECT price FROM (trades JOIN quotes ON TRUE WINDOW 5 SECONDS)
                                                ^
----------
SELECT 1
=>
UnsupportedError: line 1, column 1: SELECT without FROM is not supported: read a stream
  SELECT 1
  ^
----------
SELECT sector FROM companies
=>
UnsupportedError: line 1, column 1: a query over static tables only is not supported: a standing query reads a stream or a table that changes
  SELECT sector FROM companies
  ^
----------
SELECT TRY_CAST(symbol AS INT) FROM trades
=>
no error
----------
SELECT symbol[0] FROM trades
=>
SqlError: line 1, column 8: element does not take (STRING, INT); valid: list[position] or map[key]
  SELECT symbol[0] FROM trades
         ^
----------
WITH RECURSIVE r AS (SELECT price FROM trades) SELECT price FROM r
=>
UnsupportedError: line 1, column 16: WITH RECURSIVE is not supported: write plain WITH
  WITH RECURSIVE r AS (SELECT price FROM trades) SELECT price FROM r
                 ^
----------
VALUES (1)
=>
SqlError: line 1, column 1: unknown statement; rows are read from the sources of streams and tables, and written to query sinks
  VALUES (1)
  ^
----------
INSERT INTO trades SELECT * FROM quotes
=>
SqlError: line 1, column 1: unknown statement; write CREATE QUERY name AS SELECT ... WITH (sink = ...)
  INSERT INTO trades SELECT * FROM quotes
  ^
----------
SELECT symbol, ROW_NUMBER() OVER (ORDER BY symbol) AS n FROM trades [RANGE 1 MINUTE] GROUP BY symbol HAVING n < 3
=>
SqlError: line 1, column 109: OVER is not allowed in HAVING: write QUALIFY
  SELECT symbol, ROW_NUMBER() OVER (ORDER BY symbol) AS n FROM trades [RANGE 1 MINUTE] GROUP BY symbol HAVING n < 3
                                                                                                              ^
----------
SELECT symbol, MAX(price) OVER () FROM trades [RANGE 1 MINUTE] GROUP BY symbol
=>
SqlError: line 1, column 20: column 'price' is neither in GROUP BY nor inside an aggregate: add it to GROUP BY, or write MAX(price) or the like; grouped by: symbol
  SELECT symbol, MAX(price) OVER () FROM trades [RANGE 1 MINUTE] GROUP BY symbol
                     ^
----------
SELECT symbol FROM trades [RANGE 1 MINUTE] ORDER BY COUNT(*) LIMIT 1
=>
SqlError: line 1, column 8: column 'symbol' is neither in GROUP BY nor inside an aggregate: add it to GROUP BY, or write MAX(symbol) or the like; grouped by: nothing
  SELECT symbol FROM trades [RANGE 1 MINUTE] ORDER BY COUNT(*) LIMIT 1
         ^
----------
SELECT SUM(price) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS s FROM trades
=>
UnsupportedError: line 1, column 19: an aggregate over a part of a partition is not supported here: without a window ROWS that follow may never come: end the frame at CURRENT ROW, wait for a length of time by RANGE BETWEEN .. AND INTERVAL '1' MINUTE FOLLOWING, or write a window, as in s [RANGE 5 MINUTES]
  SELECT SUM(price) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS s FROM trades
                    ^
----------
SELECT SUM(price) OVER (ORDER BY ts GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS s FROM trades
=>
UnsupportedError: line 1, column 19: an aggregate over a part of a partition is not supported here: without a window rows come for ever, so no frame has all that follow: end it at CURRENT ROW, with RANGE also at INTERVAL '1' MINUTE FOLLOWING, or write a window, as in s [RANGE 5 MINUTES]
  SELECT SUM(price) OVER (ORDER BY ts GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS s FROM trades
                    ^
----------
SELECT SUM(price) OVER (ORDER BY ts RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) AS s FROM trades
=>
UnsupportedError: line 1, column 19: an aggregate over a part of a partition is not supported here: RANGE is over times: write INTERVAL '5' MINUTE PRECEDING, or ROWS 5 PRECEDING
  SELECT SUM(price) OVER (ORDER BY ts RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) AS s FROM trades
                    ^
----------
SELECT SUM(price) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND INTERVAL '1' MINUTE FOLLOWING EXCLUDE TIES) AS s FROM trades
=>
no error
----------
