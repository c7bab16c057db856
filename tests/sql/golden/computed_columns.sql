CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (msx)) TIMESTAMP BY t
=>
SqlError: line 1, column 45: there is no column 'msx'; did you mean 'ms'? valid: ms, t
  CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (msx)) TIMESTAMP BY t
                                              ^
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (timestamp_millis(ms)), u BIGINT AS (unix_millis(t) + 1)) TIMESTAMP BY t
=>
SqlError: line 1, column 93: column 't' is computed too: write its expression here
  CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (timestamp_millis(ms)), u BIGINT AS (unix_millis(t) + 1)) TIMESTAMP BY t
                                                                                              ^
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS timestamp_millis(ms)) TIMESTAMP BY t
=>
SqlError: line 1, column 44: expected an expression in parentheses, got 'timestamp_millis'
  CREATE STREAM s (ms BIGINT, t TIMESTAMP AS timestamp_millis(ms)) TIMESTAMP BY t
                                             ^
----------
CREATE STREAM s (ms BIGINT, t AS (timestamp_millis(ms))) TIMESTAMP BY t
=>
SqlError: line 1, column 31: expected a type, got 'AS'; valid: ARRAY, BIGINT, BINARY, BOOLEAN, CHAR, DATE, DECIMAL, DOUBLE, FLOAT, INT, INTEGER, LONG, MAP, REAL, SMALLINT, STRING, STRUCT, TIMESTAMP, TINYINT, VARCHAR
  CREATE STREAM s (ms BIGINT, t AS (timestamp_millis(ms))) TIMESTAMP BY t
                                ^
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS ()) TIMESTAMP BY t
=>
SqlError: line 1, column 45: expected an expression, got ')'
  CREATE STREAM s (ms BIGINT, t TIMESTAMP AS ()) TIMESTAMP BY t
                                              ^
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (sum(ms))) TIMESTAMP BY t
=>
SqlError: line 1, column 45: aggregate sum is not allowed in a computed column
  CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (sum(ms))) TIMESTAMP BY t
                                              ^
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS ((SELECT 1))) TIMESTAMP BY t
=>
UnsupportedError: line 1, column 46: a sub-query in a computed column is not supported: compute it in a query in FROM
  CREATE STREAM s (ms BIGINT, t TIMESTAMP AS ((SELECT 1))) TIMESTAMP BY t
                                               ^
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (now())) TIMESTAMP BY t
=>
SqlError: line 1, column 45: now() here is not supported: it is the query's clock, which WHERE compares with the event time of a stream, as in ts > now() - INTERVAL '5' MINUTE; the time of a result is its _ts
  CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (now())) TIMESTAMP BY t
                                              ^
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (to_timestamp(ms))) TIMESTAMP BY t
=>
SqlError: line 1, column 45: to_timestamp does not take (BIGINT); valid: to_timestamp(text) or to_timestamp(text, 'pattern')
  CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (to_timestamp(ms))) TIMESTAMP BY t
                                              ^
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (ms), u TIMESTAMP AS (ms)) TIMESTAMP BY t
=>
SqlError: line 1, column 66: column 'u' is TIMESTAMP, and its expression BIGINT; for a number since 1970 write timestamp_seconds(...), timestamp_millis(...), timestamp_micros(...) or timestamp_nanos(...)
  CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (ms), u TIMESTAMP AS (ms)) TIMESTAMP BY t
                                                                   ^
----------
CREATE STREAM s (ms BIGINT, x DOUBLE, c BIGINT AS (x * 2)) TIMESTAMP BY (ms)
=>
SqlError: line 1, column 52: column 'c' is BIGINT, and its expression DOUBLE; write CAST(... AS BIGINT)
  CREATE STREAM s (ms BIGINT, x DOUBLE, c BIGINT AS (x * 2)) TIMESTAMP BY (ms)
                                                     ^
----------
CREATE STREAM s (ms BIGINT) TIMESTAMP BY (timestamp_millis(ms)) WITH (ts_unit = 'ms')
=>
SqlError: line 1, column 71: ts_unit is the unit of numbers, and the event time is computed as a TIMESTAMP: leave it out
  CREATE STREAM s (ms BIGINT) TIMESTAMP BY (timestamp_millis(ms)) WITH (ts_unit = 'ms')
                                                                        ^
----------
CREATE STREAM s (ms BIGINT) TIMESTAMP BY (ms / 1000)
=>
SqlError: line 1, column 43: an event time of DOUBLE needs WITH (ts_unit = 's'), or another unit of ms, us, ns
  CREATE STREAM s (ms BIGINT) TIMESTAMP BY (ms / 1000)
                                            ^
----------
CREATE STREAM s (ms STRING) TIMESTAMP BY (ms)
=>
SqlError: line 1, column 43: an event time must be a TIMESTAMP, and this is STRING; write to_timestamp(...)
  CREATE STREAM s (ms STRING) TIMESTAMP BY (ms)
                                            ^
----------
CREATE STREAM s (ms BOOLEAN) TIMESTAMP BY (ms)
=>
SqlError: line 1, column 44: an event time must be a TIMESTAMP, and this is BOOLEAN; for a number since 1970 write timestamp_seconds(...), timestamp_millis(...), timestamp_micros(...) or timestamp_nanos(...)
  CREATE STREAM s (ms BOOLEAN) TIMESTAMP BY (ms)
                                             ^
----------
CREATE STREAM s (t TIMESTAMP AS (timestamp_millis(1))) TIMESTAMP BY t
=>
SqlError: line 1, column 34: a stream needs a column that its source has: all are computed
  CREATE STREAM s (t TIMESTAMP AS (timestamp_millis(1))) TIMESTAMP BY t
                                   ^
----------
CREATE STREAM s (ms BIGINT) TIMESTAMP BY (timestamp_millis(ms) AS t)
=>
SqlError: line 1, column 64: expected ) behind the expression, got 'AS'
  CREATE STREAM s (ms BIGINT) TIMESTAMP BY (timestamp_millis(ms) AS t)
                                                                 ^
----------
CREATE TABLE s (ms BIGINT, x BIGINT AS (ms))
=>
UnsupportedError: line 1, column 37: AS is not supported: only columns of streams are computed: compute it in the queries
  CREATE TABLE s (ms BIGINT, x BIGINT AS (ms))
                                      ^
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (timestamp_millis(ms))) TIMESTAMP BY t LATENESS 5 SECONDS
=>
no error
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP GENERATED ALWAYS AS (timestamp_millis(ms))) TIMESTAMP BY t
=>
UnsupportedError: line 1, column 41: GENERATED is not supported: write column TYPE AS (expression)
  CREATE STREAM s (ms BIGINT, t TIMESTAMP GENERATED ALWAYS AS (timestamp_millis(ms))) TIMESTAMP BY t
                                          ^
----------
