CREATE QUERY q FOR trades AS SELECT price FROM trades
=>
SqlError: line 1, column 20: expected FOR EACH ROW OF and a table, got 'trades'
  CREATE QUERY q FOR trades AS SELECT price FROM trades
                     ^
----------
CREATE QUERY q FOR EACH ROW rules AS SELECT price FROM trades
=>
SqlError: line 1, column 29: expected FOR EACH ROW OF and a table, got 'rules'
  CREATE QUERY q FOR EACH ROW rules AS SELECT price FROM trades
                              ^
----------
CREATE QUERY q FOR EACH ROW OF AS SELECT price FROM trades
=>
SqlError: line 1, column 32: expected the name of a table, got 'AS'
  CREATE QUERY q FOR EACH ROW OF AS SELECT price FROM trades
                                 ^
----------
CREATE QUERY q FOR EACH ROW OF rules
=>
SqlError: line 1, column 32: expected AS and a SELECT, but the statement ends
  CREATE QUERY q FOR EACH ROW OF rules
                                 ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS r SELECT price FROM trades
=>
SqlError: line 1, column 43: expected AS and a SELECT, got 'SELECT'
  CREATE QUERY q FOR EACH ROW OF rules AS r SELECT price FROM trades
                                            ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS 1 AS SELECT price FROM trades
=>
SqlError: line 1, column 41: expected the name of a row, got '1'
  CREATE QUERY q FOR EACH ROW OF rules AS 1 AS SELECT price FROM trades
                                          ^
----------
CREATE QUERY q FOR EACH ROW OF rules [NOW] AS SELECT price FROM trades
=>
SqlError: line 1, column 38: expected AS and a SELECT, got '['
  CREATE QUERY q FOR EACH ROW OF rules [NOW] AS SELECT price FROM trades
                                       ^
----------
CREATE VIEW v FOR EACH ROW OF rules AS SELECT price FROM trades
=>
SqlError: line 1, column 15: expected AS and a SELECT, got 'FOR'
  CREATE VIEW v FOR EACH ROW OF rules AS SELECT price FROM trades
                ^
----------
CREATE QUERY q
FOR EACH ROW OF rulez AS SELECT price FROM trades
=>
SqlError: line 2, column 17: there is no table 'rulez'; did you mean 'rules'? valid: companies, limits, rates, rules, sectors
  FOR EACH ROW OF rulez AS SELECT price FROM trades
                  ^
----------
CREATE QUERY q FOR EACH ROW OF trades AS SELECT price FROM trades
=>
SqlError: line 1, column 32: 'trades' is not a table: FOR EACH ROW OF needs a table
  CREATE QUERY q FOR EACH ROW OF trades AS SELECT price FROM trades
                                 ^
----------
CREATE QUERY q FOR EACH ROW OF averages AS SELECT price FROM trades
=>
SqlError: line 1, column 32: 'averages' is not a table: FOR EACH ROW OF needs a table
  CREATE QUERY q FOR EACH ROW OF averages AS SELECT price FROM trades
                                 ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS
SELECT price FROM trades WHERE price > rules.lest
=>
SqlError: line 2, column 46: there is no column 'lest' in 'rules', the row of FOR EACH; did you mean 'least'? valid: active, id, least, symbol
  SELECT price FROM trades WHERE price > rules.lest
                                               ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades WHERE price > least
=>
SqlError: line 1, column 80: there is no column 'least' in FROM; the row has rules.least
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades WHERE price > least
                                                                                 ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades WHERE price > leest
=>
SqlError: line 1, column 80: there is no column 'leest'; valid: price, qty, symbol, ts
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades WHERE price > leest
                                                                                 ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades WHERE price > rules.least
=>
SqlError: line 1, column 59: FOR EACH ROW OF a retroactive table needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades WHERE price > rules.least
                                                            ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS r AS SELECT rules.id FROM trades
=>
SqlError: line 1, column 53: 'rules' is not in FROM; valid: r, trades
  CREATE QUERY q FOR EACH ROW OF rules AS r AS SELECT rules.id FROM trades
                                                      ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT rulez.id FROM trades
=>
SqlError: line 1, column 48: 'rulez' is not in FROM; did you mean 'rules'? valid: rules, trades
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT rulez.id FROM trades
                                                 ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [NOW], rules
=>
SqlError: line 1, column 73: 'rules' is the row of FOR EACH; rename it there, or here, with AS
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [NOW], rules
                                                                          ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS t AS
SELECT 1 FROM quotes WHERE EXISTS (SELECT 1 FROM trades AS T)
=>
SqlError: line 2, column 50: 'T' is the row of FOR EACH; rename it there, or here, with AS
  SELECT 1 FROM quotes WHERE EXISTS (SELECT 1 FROM trades AS T)
                                                   ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades WHERE rules.least
=>
SqlError: line 1, column 72: expected a condition, got INT
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades WHERE rules.least
                                                                         ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades WHERE price > rules.symbol
=>
SqlError: line 1, column 72: DOUBLE and STRING have no common type; CAST one of them to the other
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades WHERE price > rules.symbol
                                                                         ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [RANGE rules.least SECONDS]
=>
SqlError: line 1, column 92: this window has no longest length, for which rows are kept; write for example rules.least SECONDS AT MOST 1 HOUR
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [RANGE rules.least SECONDS]
                                                                                             ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades WHERE symbol LIKE rules.symbol
=>
SqlError: line 1, column 72: like needs a constant here, not the pattern $rules.symbol
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades WHERE symbol LIKE rules.symbol
                                                                         ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT rules.id, sector FROM companies
=>
UnsupportedError: line 1, column 41: a query over static tables only is not supported: a standing query reads a stream or a table that changes
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT rules.id, sector FROM companies
                                          ^
----------
SELECT price FROM trades WHERE price > rules.least
=>
SqlError: line 1, column 40: 'rules' is not in FROM; valid: trades. For a query per row: CREATE QUERY name FOR EACH ROW OF rules AS
  SELECT price FROM trades WHERE price > rules.least
                                         ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT symbol, rules.id FROM trades [NOW];
SELECT symbol FROM q [NOW]
=>
UnsupportedError: line 2, column 20: 'q' is one query for each row of 'rules', which other queries cannot read: write its SELECT here, with the table in FROM
  SELECT symbol FROM q [NOW]
                     ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT symbol FROM cheap WHERE cheap.price < rules.least AND cheap.x = 1
=>
SqlError: line 1, column 108: there is no column 'x' in 'cheap'; valid: price, symbol
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT symbol FROM cheap WHERE cheap.price < rules.least AND cheap.x = 1
                                                                                                             ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [RANGE rules.least]
=>
SqlError: line 1, column 84: rules.least has no time unit; write for example rules.least SECONDS
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [RANGE rules.least]
                                                                                     ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [RANGE rules.least MONTHS AT MOST 1 DAY]
=>
SqlError: line 1, column 85: unknown time unit 'MONTHS'; did you mean 'MINUTES'? valid: DAYS, HOURS, MICROSECONDS, MILLISECONDS, MINUTES, SECONDS, WEEKS
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [RANGE rules.least MONTHS AT MOST 1 DAY]
                                                                                      ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [RANGE rules.symbol SECONDS AT MOST 1 DAY]
=>
SqlError: line 1, column 79: the length of a window is a number of SECONDS, and $rules.symbol is STRING
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [RANGE rules.symbol SECONDS AT MOST 1 DAY]
                                                                                ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [RANGE rules.lest SECONDS AT MOST 1 DAY]
=>
SqlError: line 1, column 79: there is no column 'lest' in 'rules', the row of FOR EACH; did you mean 'least'? valid: active, id, least, symbol
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [RANGE rules.lest SECONDS AT MOST 1 DAY]
                                                                                ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [RANGE rules.least SECONDS AT MOST -1 DAY]
=>
SqlError: line 1, column 101: a RANGE window must be longer than zero
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [RANGE rules.least SECONDS AT MOST -1 DAY]
                                                                                                      ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [RANGE least SECONDS AT MOST 1 DAY]
=>
SqlError: line 1, column 73: expected a duration such as 10 SECONDS, or a column of the row of FOR EACH with its name, as in rules.least SECONDS; got 'least'
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [RANGE least SECONDS AT MOST 1 DAY]
                                                                          ^
----------
CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [ROWS rules.least]
=>
SqlError: line 1, column 72: ROWS takes a whole number of rows from 1 to 1000000000000000, got 'rules'; the length of a RANGE window may be in a column, not that of ROWS
  CREATE QUERY q FOR EACH ROW OF rules AS SELECT price FROM trades [ROWS rules.least]
                                                                         ^
----------
SELECT price FROM trades [RANGE rules.least SECONDS AT MOST 1 DAY]
=>
SqlError: line 1, column 33: 'rules' is no row of FOR EACH: the length of a window is a duration such as 10 SECONDS, or in CREATE QUERY ... FOR EACH ROW OF rules a column of it
  SELECT price FROM trades [RANGE rules.least SECONDS AT MOST 1 DAY]
                                  ^
----------
