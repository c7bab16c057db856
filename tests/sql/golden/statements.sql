SELEC price FROM trades
=>
SqlError: line 1, column 1: unknown statement; did you mean 'SELECT'? valid: ALTER QUERY, ALTER STREAM, CREATE FUNCTION, CREATE QUERY, CREATE STREAM, CREATE TABLE, CREATE VIEW, DESCRIBE, DROP QUERY, DROP STREAM, DROP TABLE, DROP VIEW, EXPLAIN, SELECT, SET, SHOW
  SELEC price FROM trades
  ^
----------
CREATE STREEM s (ts TIMESTAMP) TIMESTAMP BY ts
=>
SqlError: line 1, column 8: CREATE what? did you mean 'STREAM'? valid: QUERY, STREAM, TABLE, VIEW
  CREATE STREEM s (ts TIMESTAMP) TIMESTAMP BY ts
         ^
----------
CREATE OR REPLACE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts
=>
UnsupportedError: line 1, column 8: CREATE OR REPLACE is not supported: DROP it first and CREATE it again
  CREATE OR REPLACE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts
         ^
----------
CREATE STREAM s (ts TIMESTAMP)
=>
SqlError: line 1, column 30: expected TIMESTAMP BY and the column that is the event time of 's', but the statement ends
  CREATE STREAM s (ts TIMESTAMP)
                               ^
----------
CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY t
=>
SqlError: line 1, column 45: there is no column 't'; did you mean 'ts'? valid: ts
  CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY t
                                              ^
----------
CREATE STREAM s (ts BIGINT) TIMESTAMP BY ts
=>
SqlError: line 1, column 42: TIMESTAMP BY needs a TIMESTAMP column, but this is ts BIGINT; if its values are numbers, declare it TIMESTAMP and their unit, as in WITH (ts_unit = 'ms')
  CREATE STREAM s (ts BIGINT) TIMESTAMP BY ts
                                           ^
----------
CREATE STREAM s (ts TIMESTAMP, x STRANG) TIMESTAMP BY ts
=>
SqlError: line 1, column 34: expected a type, got 'STRANG'; did you mean 'STRING'? valid: ARRAY, BIGINT, BINARY, BOOLEAN, CHAR, DATE, DECIMAL, DOUBLE, FLOAT, INT, INTEGER, LONG, MAP, REAL, SMALLINT, STRING, STRUCT, TIMESTAMP, TINYINT, VARCHAR
  CREATE STREAM s (ts TIMESTAMP, x STRANG) TIMESTAMP BY ts
                                   ^
----------
CREATE STREAM s (ts TIMESTAMP, x ARRAY<INT>) TIMESTAMP BY ts
=>
no error
----------
CREATE STREAM s (ts TIMESTAMP, TS INT) TIMESTAMP BY ts
=>
SqlError: line 1, column 32: column 'TS' is declared twice
  CREATE STREAM s (ts TIMESTAMP, TS INT) TIMESTAMP BY ts
                                 ^
----------
CREATE STREAM s (ts TIMESTAMP NOT NULL) TIMESTAMP BY ts
=>
UnsupportedError: line 1, column 31: NOT is not supported: a column has a name and a type, and may be NULL
  CREATE STREAM s (ts TIMESTAMP NOT NULL) TIMESTAMP BY ts
                                ^
----------
CREATE STREAM s (ts TIMESTAMP, d DECIMAL(50, 2)) TIMESTAMP BY ts
=>
SqlError: line 1, column 34: DECIMAL(50,2) is out of range: precision is 1 to 38, scale 0 to the precision
  CREATE STREAM s (ts TIMESTAMP, d DECIMAL(50, 2)) TIMESTAMP BY ts
                                   ^
----------
CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts LATENESS 5
=>
SqlError: line 1, column 57: 5 has no time unit; write for example 5 SECONDS
  CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts LATENESS 5
                                                          ^
----------
CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts LATENESS -5 SECONDS
=>
SqlError: line 1, column 57: LATENESS cannot be negative
  CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts LATENESS -5 SECONDS
                                                          ^
----------
CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts WITH (a = 1, a = 2)
=>
SqlError: line 1, column 61: option 'a' is given twice
  CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts WITH (a = 1, a = 2)
                                                              ^
----------
CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts WITH (a = b)
=>
SqlError: line 1, column 58: option 'a' takes a 'text', a number, TRUE or FALSE, got 'b'; a text has single quotes, 'b'
  CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts WITH (a = b)
                                                           ^
----------
CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts WITH a = 'b'
=>
SqlError: line 1, column 53: expected ( and options, got 'a'
  CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts WITH a = 'b'
                                                      ^
----------
CREATE TABLE t (a INT) WITH (updates = 'statik')
=>
SqlError: line 1, column 40: unknown option updates = 'statik'; did you mean 'static'? valid: non-retroactive, retroactive, static
  CREATE TABLE t (a INT) WITH (updates = 'statik')
                                         ^
----------
CREATE VIEW v AS SELECT a FROM s EMIT CHANGES
=>
SqlError: line 1, column 34: a view has no EMIT clause: write it in the query that reads the view
  CREATE VIEW v AS SELECT a FROM s EMIT CHANGES
                                   ^
----------
CREATE QUERY q SELECT a FROM s
=>
SqlError: line 1, column 16: expected AS and a SELECT, got 'SELECT'
  CREATE QUERY q SELECT a FROM s
                 ^
----------
CREATE QUERY q AS SELECT a FROM s WITH (sink = 'print') EMIT CHANGES
=>
SqlError: line 1, column 57: unexpected 'EMIT'
  CREATE QUERY q AS SELECT a FROM s WITH (sink = 'print') EMIT CHANGES
                                                          ^
----------
DROP IF EXISTS q
=>
SqlError: line 1, column 6: DROP what? valid: QUERY, STREAM, TABLE, VIEW
  DROP IF EXISTS q
       ^
----------
DROP QUERY IF EXISTS q
=>
UnsupportedError: line 1, column 12: DROP IF EXISTS is not supported: write DROP QUERY name
  DROP QUERY IF EXISTS q
             ^
----------
SELECT a FROM s EMIT SNAPSHOT
=>
SqlError: line 1, column 22: expected EVERY and a duration, but the statement ends
  SELECT a FROM s EMIT SNAPSHOT
                       ^
----------
SELECT a FROM s EMIT SNAPSHOT EVERY 0 SECONDS
=>
SqlError: line 1, column 37: EVERY must be longer than zero
  SELECT a FROM s EMIT SNAPSHOT EVERY 0 SECONDS
                                      ^
----------
SELECT a FROM s EMIT DELETES
=>
SqlError: line 1, column 22: unknown EMIT mode; valid: CHANGES, FINAL, INSERTS, SNAPSHOT EVERY 10 SECONDS
  SELECT a FROM s EMIT DELETES
                       ^
----------
SELECT a FROM s [RANGE 5 PARSECS]
=>
SqlError: line 1, column 26: unknown time unit 'PARSECS'; valid: DAYS, HOURS, MICROSECONDS, MILLISECONDS, MINUTES, SECONDS, WEEKS
  SELECT a FROM s [RANGE 5 PARSECS]
                           ^
----------
SELECT a FROM s [RANGE 5]
=>
SqlError: line 1, column 24: 5 has no time unit; write for example 5 SECONDS
  SELECT a FROM s [RANGE 5]
                         ^
----------
SELECT a FROM s [RANGE 0 SECONDS]
=>
SqlError: line 1, column 24: a RANGE window must be longer than zero
  SELECT a FROM s [RANGE 0 SECONDS]
                         ^
----------
SELECT a FROM s [ROWS 1.5]
=>
SqlError: line 1, column 23: ROWS takes a whole number of rows from 1 to 1000000000000000, got '1.5'
  SELECT a FROM s [ROWS 1.5]
                        ^
----------
SELECT a FROM s [SLIDE 3 SECONDS]
=>
SqlError: line 1, column 18: unknown window, got 'SLIDE'; valid: [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED]
  SELECT a FROM s [SLIDE 3 SECONDS]
                   ^
----------
SELECT a FROM s [RANGE 3 SECONDS SLIDE 1 SECOND]
=>
UnsupportedError: line 1, column 34: SLIDE in a window is not supported: write FROM s [HOP 5 MINUTES EVERY 1 MINUTE] and GROUP BY window_start, window_end, or the function in FROM, TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)); FROM s [RANGE 5 MINUTES] slides with every row
  SELECT a FROM s [RANGE 3 SECONDS SLIDE 1 SECOND]
                                   ^
----------
SELECT a FROM s [NOW] AS t [NOW]
=>
SqlError: line 1, column 28: 't' already has a window
  SELECT a FROM s [NOW] AS t [NOW]
                             ^
----------
SELECT a
FROM s
WHERE b = 'never closed
=>
SqlError: line 3, column 11: this quote has no end: ' is missing
  WHERE b = 'never closed
            ^
----------
SELECT a FROM s /* never closed
=>
SqlError: line 1, column 17: this comment has no end: */ is missing
  SELECT a FROM s /* never closed
                  ^
----------
SELECT a, FROM s
=>
SqlError: line 1, column 11: expected another item behind ',', got 'FROM'
  SELECT a, FROM s
            ^
----------
SELECT FROM s
=>
SqlError: line 1, column 8: expected the columns to SELECT, got 'FROM'
  SELECT FROM s
         ^
----------
SELECT a FROM s WHERE
=>
SqlError: line 1, column 17: an expression is missing behind 'WHERE'
  SELECT a FROM s WHERE
                  ^
----------
SELECT f(a FROM s
=>
SqlError: line 1, column 12: expecting )
  SELECT f(a FROM s
             ^
----------
SELECT a FROM s GROUP a
=>
SqlError: line 1, column 23: unexpected 'a'; is a comma or a word missing in front of it?
  SELECT a FROM s GROUP a
                        ^
----------
SELECT a FROM s, [NOW]
=>
SqlError: line 1, column 18: expected table name, got '['
  SELECT a FROM s, [NOW]
                   ^
----------
SELECT CASE WHEN a = 1 'x' END FROM s
=>
SqlError: line 1, column 24: expected THEN, got 'x'
  SELECT CASE WHEN a = 1 'x' END FROM s
                         ^
----------
SELECT CASE WHEN a = 1 THEN 'x' FROM s
=>
SqlError: line 1, column 33: expected the END of CASE, got 'FROM'
  SELECT CASE WHEN a = 1 THEN 'x' FROM s
                                  ^
----------
SELECT CAST(a AS INT FROM s
=>
SqlError: line 1, column 22: expected ), got 'FROM'
  SELECT CAST(a AS INT FROM s
                       ^
----------
SELECT a FROM s WHERE a BETWEEN 1 2
=>
SqlError: line 1, column 35: expected the AND of BETWEEN, got '2'
  SELECT a FROM s WHERE a BETWEEN 1 2
                                    ^
----------
SELECT a AS , b FROM s
=>
SqlError: line 1, column 13: expected a name behind AS, got ','
  SELECT a AS , b FROM s
              ^
----------
SELECT a FROM s AS WHERE a = 1
=>
SqlError: line 1, column 26: unexpected 'a'
  SELECT a FROM s AS WHERE a = 1
                           ^
----------
SELECT , a FROM s
=>
SqlError: line 1, column 12: expected an item before the first comma
  SELECT , a FROM s
             ^
----------
SELECT a FROM s JOIN t USING ()
=>
SqlError: line 1, column 31: expected the columns of USING
  SELECT a FROM s JOIN t USING ()
                                ^
----------
SELECT CAST(price AS DECIMAL(3 2)) FROM trades
=>
SqlError: line 1, column 13: DECIMAL takes a precision and a scale, as in DECIMAL(10, 2)
  SELECT CAST(price AS DECIMAL(3 2)) FROM trades
              ^
----------
WITH a AS (DROP VIEW v) SELECT * FROM a
=>
SqlError: line 1, column 12: expected a SELECT, got 'DROP'
  WITH a AS (DROP VIEW v) SELECT * FROM a
             ^
----------
SELECT a FROM .s
=>
SqlError: line 1, column 15: expected the name of a stream or table, got '.'
  SELECT a FROM .s
                ^
----------
