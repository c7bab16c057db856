CREATE STREAM s (ts TIMESTAMP, symbol STRING, `odd, name` INT) TIMESTAMP BY ts
  WITH (rate = -5)
=>
SqlError: line 2, column 17: rate must be a number of at least 0, got '-5'
    WITH (rate = -5)
                  ^
----------
CREATE STREAM s (ts TIMESTAMP, symbol STRING, `odd, name` INT) TIMESTAMP BY ts
  WITH (rate = 'fast')
=>
SqlError: line 2, column 16: rate must be a number of at least 0, got 'fast'
    WITH (rate = 'fast')
                 ^
----------
CREATE STREAM s (ts TIMESTAMP, symbol STRING, `odd, name` INT) TIMESTAMP BY ts
  WITH (rows = 5)
=>
SqlError: line 2, column 16: rows = ... is an option of tables; for a stream write rate = ...
    WITH (rows = 5)
                 ^
----------
CREATE STREAM s (ts TIMESTAMP, symbol STRING, `odd, name` INT) TIMESTAMP BY ts
  WITH (distinct = 'symbol 300')
=>
SqlError: line 2, column 21: expected column: number in distinct, got 'symbol 300'; write for instance distinct = 'symbol: 300'
    WITH (distinct = 'symbol 300')
                      ^
----------
CREATE STREAM s (ts TIMESTAMP, symbol STRING, `odd, name` INT) TIMESTAMP BY ts
  WITH (distinct = 'symbol: 300,')
=>
SqlError: line 2, column 33: expected column: number in distinct, got ''; write for instance distinct = 'symbol: 300'
    WITH (distinct = 'symbol: 300,')
                                  ^
----------
CREATE STREAM s (ts TIMESTAMP, symbol STRING, `odd, name` INT) TIMESTAMP BY ts
  WITH (distinct = 'symbl: 300')
=>
SqlError: line 2, column 21: there is no column 'symbl'; did you mean 'symbol'? valid: odd, name, symbol, ts
    WITH (distinct = 'symbl: 300')
                      ^
----------
CREATE STREAM s (ts TIMESTAMP, symbol STRING, `odd, name` INT) TIMESTAMP BY ts
  WITH (distinct = 'ts: 3, symbol: 0')
=>
SqlError: line 2, column 28: distinct of 'symbol' must be a number of at least 1, got '0'
    WITH (distinct = 'ts: 3, symbol: 0')
                             ^
----------
CREATE STREAM s (ts TIMESTAMP, symbol STRING, `odd, name` INT) TIMESTAMP BY ts
  WITH (distinct = 'ts: 3,
  `odd, name`: many')
=>
SqlError: line 3, column 3: distinct of 'odd, name' must be a number of at least 1, got 'many'
    `odd, name`: many')
    ^
----------
CREATE STREAM s (ts TIMESTAMP, symbol STRING, `odd, name` INT) TIMESTAMP BY ts
  WITH (distinct = 'symbol: 3, SYMBOL: 4')
=>
SqlError: line 2, column 32: column 'symbol' is named twice in distinct
    WITH (distinct = 'symbol: 3, SYMBOL: 4')
                                 ^
----------
CREATE STREAM s (ts TIMESTAMP, symbol STRING, `odd, name` INT) TIMESTAMP BY ts
  WITH (distinct = 5)
=>
SqlError: line 2, column 20: expected column: number in distinct, got '5'; write for instance distinct = 'symbol: 300'
    WITH (distinct = 5)
                     ^
----------
CREATE STREAM s (ts TIMESTAMP, symbol STRING, `odd, name` INT) TIMESTAMP BY ts
  WITH (source = 'kafka', rate = 1e3, distinct = 'symbol: 3, `odd, name`: 1e6')
=>
no error
----------
CREATE TABLE t (a INT) WITH (rows = 5, rate = 3)
=>
SqlError: line 1, column 47: a static table has no rate; write its number of rows: rows = ...
  CREATE TABLE t (a INT) WITH (rows = 5, rate = 3)
                                                ^
----------
CREATE TABLE t (a INT) WITH (rows = -1)
=>
SqlError: line 1, column 38: rows must be a number of at least 0, got '-1'
  CREATE TABLE t (a INT) WITH (rows = -1)
                                       ^
----------
