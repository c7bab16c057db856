-- months are added to timestamps and dates
SELECT INTERVAL '1' MONTH AS m FROM trades
=>
SqlError: line 2, column 8: an INTERVAL of months has no fixed length: add it to a timestamp or a date, or subtract it (ts + INTERVAL 1 MONTH), or write a number of DAYS; for a number of months in a column write timestampadd(MONTH, x, ts)
  SELECT INTERVAL '1' MONTH AS m FROM trades
         ^
----------
SELECT qty + INTERVAL '1' MONTH FROM trades
=>
SqlError: line 1, column 8: months are added to a TIMESTAMP or DATE, not to BIGINT
  SELECT qty + INTERVAL '1' MONTH FROM trades
         ^
----------
SELECT ts + 2 * INTERVAL '1' MONTH FROM trades
=>
SqlError: line 1, column 17: an INTERVAL of months has no fixed length: add it to a timestamp or a date, or subtract it (ts + INTERVAL 1 MONTH), or write a number of DAYS; for a number of months in a column write timestampadd(MONTH, x, ts)
  SELECT ts + 2 * INTERVAL '1' MONTH FROM trades
                  ^
----------
SELECT ts + INTERVAL '1-13' YEAR TO MONTH FROM trades
=>
SqlError: line 1, column 13: '1-13' is not YEAR TO MONTH, as in '1-2', with at most 11 months
  SELECT ts + INTERVAL '1-13' YEAR TO MONTH FROM trades
              ^
----------
SELECT ts + INTERVAL '1 day 2' FROM trades
=>
SqlError: line 1, column 13: '1 day 2' is not a duration such as '5 seconds'
  SELECT ts + INTERVAL '1 day 2' FROM trades
              ^
----------
SELECT ts + INTERVAL qty MINUTE FROM trades
=>
SqlError: line 1, column 13: an INTERVAL is a constant, as in INTERVAL 5 MINUTES; for a number of units in a column write timestampadd(MINUTE, x, ts), or x * INTERVAL 1 MINUTE
  SELECT ts + INTERVAL qty MINUTE FROM trades
              ^
----------
-- windows have a fixed length
SELECT qty FROM trades [RANGE 1 MONTH]
=>
SqlError: line 2, column 31: a month has no fixed length, so rows would not leave in their order: write DAYS, or calendar months as [TUMBLE 1 MONTH]
  SELECT qty FROM trades [RANGE 1 MONTH]
                                ^
----------
SELECT qty FROM trades [RANGE INTERVAL '1-2' YEAR TO MONTH]
=>
SqlError: line 1, column 31: a month has no fixed length, so rows would not leave in their order: write DAYS, or calendar months as [TUMBLE 1 MONTH]
  SELECT qty FROM trades [RANGE INTERVAL '1-2' YEAR TO MONTH]
                                ^
----------
SELECT count(*) AS n FROM trades GROUP BY TUMBLE(ts, INTERVAL 1 MONTH)
=>
no error
----------
SELECT qty FROM trades WHERE ts > now() - INTERVAL '1' MONTH
=>
SqlError: line 1, column 43: an INTERVAL of months has no fixed length: add it to a timestamp or a date, or subtract it (ts + INTERVAL 1 MONTH), or write a number of DAYS; for a number of months in a column write timestampadd(MONTH, x, ts)
  SELECT qty FROM trades WHERE ts > now() - INTERVAL '1' MONTH
                                            ^
----------
SELECT qty FROM trades EMIT SNAPSHOT EVERY 1 YEAR
=>
SqlError: line 1, column 46: a month has no fixed length: write a number of DAYS, not 1 YEAR
  SELECT qty FROM trades EMIT SNAPSHOT EVERY 1 YEAR
                                               ^
----------
