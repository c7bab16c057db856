CREATE STREAM z (ts TIMESTAMP, a ARRAY<STRANG>) TIMESTAMP BY ts
=>
SqlError: line 1, column 40: expecting >
  CREATE STREAM z (ts TIMESTAMP, a ARRAY<STRANG>) TIMESTAMP BY ts
                                         ^
----------
CREATE STREAM z (ts TIMESTAMP, a ARRAY) TIMESTAMP BY ts
=>
SqlError: line 1, column 34: unknown type ARRAY; nested types are written as ARRAY<INT>, MAP<STRING, INT> or STRUCT<a: INT, b: STRING>
  CREATE STREAM z (ts TIMESTAMP, a ARRAY) TIMESTAMP BY ts
                                   ^
----------
CREATE STREAM z (ts TIMESTAMP, m MAP<ARRAY<INT>, INT>) TIMESTAMP BY ts
=>
SqlError: line 1, column 34: the keys of a MAP cannot be of type ARRAY<INT>
  CREATE STREAM z (ts TIMESTAMP, m MAP<ARRAY<INT>, INT>) TIMESTAMP BY ts
                                   ^
----------
CREATE STREAM z (ts TIMESTAMP, o STRUCT<a: INT, A: INT>) TIMESTAMP BY ts
=>
SqlError: line 1, column 34: STRUCT takes fields of different names, as in STRUCT<a: INT, b: STRING>
  CREATE STREAM z (ts TIMESTAMP, o STRUCT<a: INT, A: INT>) TIMESTAMP BY ts
                                   ^
----------
CREATE STREAM z (ts TIMESTAMP, o STRUCT<>) TIMESTAMP BY ts
=>
SqlError: line 1, column 34: STRUCT takes fields of different names, as in STRUCT<a: INT, b: STRING>
  CREATE STREAM z (ts TIMESTAMP, o STRUCT<>) TIMESTAMP BY ts
                                   ^
----------
SELECT symbol.name FROM trades
=>
SqlError: line 1, column 8: symbol is STRING, which has no fields
  SELECT symbol.name FROM trades
         ^
----------
SELECT t.symbol.name FROM trades AS t
=>
SqlError: line 1, column 8: symbol is STRING, which has no fields
  SELECT t.symbol.name FROM trades AS t
         ^
----------
SELECT named_struct('a', qty, 'A', 1) FROM trades
=>
SqlError: line 1, column 8: the fields of a structure need different names
  SELECT named_struct('a', qty, 'A', 1) FROM trades
         ^
----------
SELECT named_struct('a', qty).b FROM trades
=>
SqlError: line 1, column 8: named_struct(qty) has no field 'b'; valid: a
  SELECT named_struct('a', qty).b FROM trades
         ^
----------
SELECT named_struct('a', NULL) FROM trades
=>
SqlError: line 1, column 8: the type of a field is not known: CAST its NULL
  SELECT named_struct('a', NULL) FROM trades
         ^
----------
SELECT split(symbol, ',')['x'] FROM trades
=>
SqlError: line 1, column 8: element does not take (ARRAY<STRING>, STRING); valid: list[position] or map[key]
  SELECT split(symbol, ',')['x'] FROM trades
         ^
----------
SELECT split(symbol, ',')[0:1] FROM trades
=>
UnsupportedError: line 1, column 27: a part of a list is not supported: write one position, as in list[0]
  SELECT split(symbol, ',')[0:1] FROM trades
                            ^
----------
SELECT split(symbol, '.*') FROM trades
=>
SqlError: line 1, column 8: the pattern '.*' of split matches the empty text
  SELECT split(symbol, '.*') FROM trades
         ^
----------
SELECT price FROM trades WHERE split(symbol, ',') = split(symbol, ';')
=>
SqlError: line 1, column 32: = does not take (ARRAY<STRING>, ARRAY<STRING>); valid: value = value
  SELECT price FROM trades WHERE split(symbol, ',') = split(symbol, ';')
                                 ^
----------
SELECT price FROM trades WHERE split(symbol, ',') IN (split(symbol, ';'), split(symbol, '.'))
=>
SqlError: line 1, column 32: in does not take (ARRAY<STRING>, ARRAY<STRING>, ARRAY<STRING>); valid: value IN (value, ...)
  SELECT price FROM trades WHERE split(symbol, ',') IN (split(symbol, ';'), split(symbol, '.'))
                                 ^
----------
SELECT MAX(split(symbol, ',')) FROM trades [ROWS 3]
=>
SqlError: line 1, column 8: max needs ordered values, not ARRAY<STRING>
  SELECT MAX(split(symbol, ',')) FROM trades [ROWS 3]
         ^
----------
SELECT CAST(split(symbol, ',') AS STRING) FROM trades
=>
SqlError: line 1, column 13: cannot CAST ARRAY<STRING> to STRING; it converts to: nothing
  SELECT CAST(split(symbol, ',') AS STRING) FROM trades
              ^
----------
SELECT greatest(split(symbol, ','), split(symbol, ';')) FROM trades
=>
SqlError: line 1, column 8: greatest does not take (ARRAY<STRING>, ARRAY<STRING>); valid: greatest(value, value, ...)
  SELECT greatest(split(symbol, ','), split(symbol, ';')) FROM trades
         ^
----------
SELECT x FROM UNNEST(split('a,b', ',')) AS t (x)
=>
SqlError: line 1, column 15: UNNEST needs a stream in front of it: FROM s, UNNEST(s.list)
  SELECT x FROM UNNEST(split('a,b', ',')) AS t (x)
                ^
----------
SELECT x FROM trades, UNNEST(symbol) AS t (x)
=>
SqlError: line 1, column 30: UNNEST needs an ARRAY or a MAP, not STRING
  SELECT x FROM trades, UNNEST(symbol) AS t (x)
                               ^
----------
SELECT x FROM trades, UNNEST(split(symbol, ','), 1) AS t (x)
=>
SqlError: line 1, column 48: expected one list in UNNEST(...), got ','
  SELECT x FROM trades, UNNEST(split(symbol, ','), 1) AS t (x)
                                                 ^
----------
SELECT x FROM trades, UNNEST(split(symbol, ',')) AS t (x, y)
=>
SqlError: line 1, column 53: 2 column aliases for 1 columns: t
  SELECT x FROM trades, UNNEST(split(symbol, ',')) AS t (x, y)
                                                      ^
----------
SELECT x FROM trades, UNNEST(split(symbol, ',')) AS trades (x)
=>
SqlError: line 1, column 23: two FROM items are named 'trades'; rename one with AS
  SELECT x FROM trades, UNNEST(split(symbol, ',')) AS trades (x)
                        ^
----------
SELECT x FROM trades, UNNEST(split(nothing, ',')) AS t (x)
=>
SqlError: line 1, column 36: there is no column 'nothing'; valid: price, qty, symbol, ts
  SELECT x FROM trades, UNNEST(split(nothing, ',')) AS t (x)
                                     ^
----------
SELECT y FROM trades, UNNEST(split(symbol, ',')) AS t (x)
=>
SqlError: line 1, column 8: there is no column 'y'; valid: price, qty, symbol, ts, x
  SELECT y FROM trades, UNNEST(split(symbol, ',')) AS t (x)
         ^
----------
SELECT x FROM trades RIGHT JOIN UNNEST(split(symbol, ',')) AS t (x) ON TRUE
=>
UnsupportedError: line 1, column 33: write CROSS JOIN UNNEST(list), or LEFT JOIN UNNEST(list) ON TRUE
  SELECT x FROM trades RIGHT JOIN UNNEST(split(symbol, ',')) AS t (x) ON TRUE
                                  ^
----------
SELECT x FROM trades LEFT JOIN UNNEST(split(symbol, ',')) AS t (x) ON x = 'a'
=>
UnsupportedError: line 1, column 32: write CROSS JOIN UNNEST(list), or LEFT JOIN UNNEST(list) ON TRUE
  SELECT x FROM trades LEFT JOIN UNNEST(split(symbol, ',')) AS t (x) ON x = 'a'
                                 ^
----------
SELECT x FROM trades LATERAL VIEW t AS x
=>
SqlError: line 1, column 35: expected explode(list) behind LATERAL VIEW, got 't'
  SELECT x FROM trades LATERAL VIEW t AS x
                                    ^
----------
SELECT explode(split(symbol, ',')) FROM trades
=>
SqlError: line 1, column 8: there is no function explode: write FROM s, UNNEST(list) AS t (x), or LATERAL VIEW explode(list) t AS x
  SELECT explode(split(symbol, ',')) FROM trades
         ^
----------
SELECT posexplode(split(symbol, ',')) FROM trades
=>
SqlError: line 1, column 8: there is no function posexplode: write FROM s, UNNEST(list) WITH ORDINALITY AS t (x, n)
  SELECT posexplode(split(symbol, ',')) FROM trades
         ^
----------
SELECT x FROM trades, LATERAL (SELECT 1) AS t (x)
=>
UnsupportedError: line 1, column 31: LATERAL takes a SELECT of aggregates without GROUP BY and HAVING, which has one row for each row in front of it: write a JOIN for others
  SELECT x FROM trades, LATERAL (SELECT 1) AS t (x)
                                ^
----------
SELECT collect_list(array(price)) FROM trades [ROWS 3]
=>
SqlError: line 1, column 8: collect_list needs ordered values, not ARRAY<DOUBLE>
  SELECT collect_list(array(price)) FROM trades [ROWS 3]
         ^
----------
SELECT symbol ->> symbol FROM trades
=>
SqlError: line 1, column 19: ->> takes a constant name or position; put a longer expression behind (symbol ->> 'name')
  SELECT symbol ->> symbol FROM trades
                    ^
----------
SELECT symbol ->> 'a' || 'b' FROM trades
=>
no error
----------
SELECT qty ->> 'a' FROM trades
=>
SqlError: line 1, column 8: ->> does not take (BIGINT, STRING); valid: text ->> 'name' or text ->> position or text ->> '$.path'
  SELECT qty ->> 'a' FROM trades
         ^
----------
SELECT symbol -> 1.5 FROM trades
=>
SqlError: line 1, column 8: -> does not take (STRING, DOUBLE); valid: text -> 'name' or text -> position or text -> '$.path'
  SELECT symbol -> 1.5 FROM trades
         ^
----------
SELECT json_value(symbol, 'a') FROM trades
=>
SqlError: line 1, column 8: 'a' is no path; write it like '$.order.price', '$.items[0].id' or '$[''a name'']'
  SELECT json_value(symbol, 'a') FROM trades
         ^
----------
SELECT json_query(symbol, symbol) FROM trades
=>
SqlError: line 1, column 8: json_query does not take (STRING, STRING); valid: json_query(text, '$.path')
  SELECT json_query(symbol, symbol) FROM trades
         ^
----------
SELECT symbol ->> '$.a.*' FROM trades
=>
SqlError: line 1, column 8: '$.a.*' is no path from '.*' on; write it like '$.order.price', '$.items[0].id' or '$[''a name'']'
  SELECT symbol ->> '$.a.*' FROM trades
         ^
----------
SELECT array(qty) || array(price) FROM trades
=>
SqlError: line 1, column 8: ARRAY<BIGINT> and ARRAY<DOUBLE> have no common type; their elements are not converted
  SELECT array(qty) || array(price) FROM trades
         ^
----------
SELECT array(symbol) || symbol FROM trades
=>
SqlError: line 1, column 8: ARRAY<STRING> and STRING have no common type; their elements are not converted
  SELECT array(symbol) || symbol FROM trades
         ^
----------
SELECT reverse(qty) FROM trades
=>
SqlError: line 1, column 8: reverse does not take (BIGINT); valid: reverse(text) or reverse(list)
  SELECT reverse(qty) FROM trades
         ^
----------
