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
no error
----------
SELECT price FROM trades WHERE split(symbol, ',') IN (split(symbol, ';'), split(symbol, '.'))
=>
no error
----------
SELECT MAX(split(symbol, ',')) FROM trades [ROWS 3]
=>
SqlError: line 1, column 8: max needs ordered values, not ARRAY<STRING>
  SELECT MAX(split(symbol, ',')) FROM trades [ROWS 3]
         ^
----------
SELECT CAST(split(symbol, ',') AS STRING) FROM trades
=>
no error
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
no error
----------
SELECT posexplode(split(symbol, ',')) FROM trades
=>
no error
----------
SELECT x FROM trades, LATERAL (SELECT 1) AS t (x)
=>
UnsupportedError: line 1, column 32: SELECT without FROM is not supported: read a stream
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
no error
----------
SELECT array(symbol) || symbol FROM trades
=>
SqlError: line 1, column 8: ARRAY<STRING> and STRING have no common type; CAST one of them to the other
  SELECT array(symbol) || symbol FROM trades
         ^
----------
SELECT reverse(qty) FROM trades
=>
SqlError: line 1, column 8: reverse does not take (BIGINT); valid: reverse(text) or reverse(list)
  SELECT reverse(qty) FROM trades
         ^
----------
SELECT transform(split(symbol, ','), x -> x || symbol) FROM trades
=>
no error
----------
SELECT transform(split(symbol, ','), (x, y, z) -> x) FROM trades
=>
SqlError: line 1, column 8: transform does not take (ARRAY<STRING>, NULL); valid: transform(list, x -> value) or transform(list, (x, i) -> value)
  SELECT transform(split(symbol, ','), (x, y, z) -> x) FROM trades
         ^
----------
SELECT transform(split(symbol, ','), (x, X) -> x) FROM trades
=>
SqlError: line 1, column 39: the variables of -> need different names
  SELECT transform(split(symbol, ','), (x, X) -> x) FROM trades
                                        ^
----------
SELECT transform(split(symbol, ','), x -> y) FROM trades
=>
SqlError: line 1, column 43: there is no column 'y'; valid: price, qty, symbol, ts
  SELECT transform(split(symbol, ','), x -> y) FROM trades
                                            ^
----------
SELECT transform(split(symbol, ','), 5) FROM trades
=>
SqlError: line 1, column 8: transform does not take (ARRAY<STRING>, INT); valid: transform(list, x -> value) or transform(list, (x, i) -> value)
  SELECT transform(split(symbol, ','), 5) FROM trades
         ^
----------
SELECT transform(price, x -> x) FROM trades
=>
SqlError: line 1, column 8: transform does not take (DOUBLE, NULL); valid: transform(list, x -> value) or transform(list, (x, i) -> value)
  SELECT transform(price, x -> x) FROM trades
         ^
----------
SELECT filter(split(symbol, ','), x -> x) FROM trades
=>
SqlError: line 1, column 8: filter does not take (ARRAY<STRING>, NULL); valid: filter(list, x -> condition) or filter(list, (x, i) -> condition)
  SELECT filter(split(symbol, ','), x -> x) FROM trades
         ^
----------
SELECT transform(split(symbol, ','), x -> NULL) FROM trades
=>
SqlError: line 1, column 8: the type of the elements is not known: CAST the NULL
  SELECT transform(split(symbol, ','), x -> NULL) FROM trades
         ^
----------
SELECT upper(x -> y) FROM trades
=>
SqlError: line 1, column 19: -> takes a constant name or position; put a longer expression behind (x -> 'name')
  SELECT upper(x -> y) FROM trades
                    ^
----------
SELECT transform(array(1), x -> SUM(x)) FROM trades [ROWS 3]
=>
UnsupportedError: line 1, column 37: 'x' is not supported: docs/sql-functions.md lists the functions
  SELECT transform(array(1), x -> SUM(x)) FROM trades [ROWS 3]
                                      ^
----------
SELECT aggregate(array(1), 0, (a, x) -> 'a') FROM trades
=>
SqlError: line 1, column 8: INT and STRING have no common type; CAST one of them to the other
  SELECT aggregate(array(1), 0, (a, x) -> 'a') FROM trades
         ^
----------
SELECT exists(array(qty), x -> x > 1) FROM trades WHERE EXISTS (SELECT 1 FROM quotes [NOW] WHERE quotes.symbol = trades.symbol) WINDOW 1 MINUTE
=>
no error
----------
SELECT map('a', 1, 'b') FROM trades
=>
SqlError: line 1, column 8: map does not take (STRING, INT, STRING); valid: map(key, value, ...)
  SELECT map('a', 1, 'b') FROM trades
         ^
----------
SELECT map('a', NULL) FROM trades
=>
SqlError: line 1, column 8: the type of the values is not known: CAST the NULL
  SELECT map('a', NULL) FROM trades
         ^
----------
SELECT map(array(1), 2) FROM trades
=>
SqlError: line 1, column 8: the keys of a map are numbers, texts, times or truth values
  SELECT map(array(1), 2) FROM trades
         ^
----------
SELECT str_to_map(symbol, symbol) FROM trades
=>
SqlError: line 1, column 8: the separators of str_to_map are constants that are not empty
  SELECT str_to_map(symbol, symbol) FROM trades
         ^
----------
SELECT sequence(1, 5.5) FROM trades
=>
SqlError: line 1, column 8: sequence does not take (INT, DOUBLE); valid: sequence(first, last) or sequence(first, last, step) or sequence(timestamp, timestamp, INTERVAL '1' HOUR)
  SELECT sequence(1, 5.5) FROM trades
         ^
----------
SELECT sequence(DATE '2024-01-01', DATE '2024-02-01', INTERVAL '1' HOUR) FROM trades
=>
SqlError: line 1, column 8: the step of dates is an INTERVAL of whole days or months, a constant
  SELECT sequence(DATE '2024-01-01', DATE '2024-02-01', INTERVAL '1' HOUR) FROM trades
         ^
----------
SELECT sequence(ts, ts, INTERVAL '1 month 1 day') FROM trades
=>
SqlError: line 1, column 8: the step of sequence is of months or a fixed length
  SELECT sequence(ts, ts, INTERVAL '1 month 1 day') FROM trades
         ^
----------
SELECT sequence(1, 2, INTERVAL '1' MONTH) FROM trades
=>
SqlError: line 1, column 8: sequence with an INTERVAL takes dates or timestamps
  SELECT sequence(1, 2, INTERVAL '1' MONTH) FROM trades
         ^
----------
SELECT split(symbol, ',') < split(symbol, ';') FROM trades
=>
SqlError: line 1, column 8: < does not take (ARRAY<STRING>, ARRAY<STRING>); valid: value < value
  SELECT split(symbol, ',') < split(symbol, ';') FROM trades
         ^
----------
SELECT map('a', 1) = map('a', 2) FROM trades
=>
SqlError: line 1, column 8: = does not take (MAP<STRING, INT>, MAP<STRING, INT>); valid: value = value
  SELECT map('a', 1) = map('a', 2) FROM trades
         ^
----------
SELECT named_struct('a', 1) = named_struct('b', 1) FROM trades
=>
SqlError: line 1, column 8: STRUCT<a: INT> and STRUCT<b: INT> have no common type; CAST one of them to the other
  SELECT named_struct('a', 1) = named_struct('b', 1) FROM trades
         ^
----------
SELECT CAST(array(1) AS ARRAY<DATE>) FROM trades
=>
SqlError: line 1, column 13: cannot CAST INT to DATE; it converts to: BOOL, INTEGER, FLOAT, DECIMAL, STRING, TIMESTAMP
  SELECT CAST(array(1) AS ARRAY<DATE>) FROM trades
              ^
----------
SELECT CAST(struct(qty) AS STRUCT<a: INT, b: INT>) FROM trades
=>
SqlError: line 1, column 13: cannot CAST STRUCT<qty: BIGINT> to STRUCT<a: INT, b: INT>; it converts to: STRING
  SELECT CAST(struct(qty) AS STRUCT<a: INT, b: INT>) FROM trades
              ^
----------
SELECT TRY_CAST(map('a', 1) AS MAP<INT, INT>) FROM trades
=>
SqlError: line 1, column 17: cannot TRY_CAST to MAP<INT, INT>: a key of a map cannot be NULL
  SELECT TRY_CAST(map('a', 1) AS MAP<INT, INT>) FROM trades
                  ^
----------
SELECT CASE WHEN price > 1 THEN array(1) ELSE array('a') END FROM trades
=>
SqlError: line 1, column 18: ARRAY<INT> and ARRAY<STRING> have no common type; CAST one of them to the other
  SELECT CASE WHEN price > 1 THEN array(1) ELSE array('a') END FROM trades
                   ^
----------
SELECT posexplode(split(symbol, ',')) AS p FROM trades
=>
SqlError: line 1, column 8: posexplode makes the columns pos and col: leave AS out, or write FROM s, UNNEST(list) WITH ORDINALITY AS t (x, n)
  SELECT posexplode(split(symbol, ',')) AS p FROM trades
         ^
----------
