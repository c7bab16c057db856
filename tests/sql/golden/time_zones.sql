SELECT ts AT TIME ZONE 'Europe/Berlim' FROM trades
=>
SqlError: line 1, column 11: there is no time zone 'Europe/Berlim'; did you mean 'Europe/Berlin'? nearest of 599: Europe/Berlin, Europe/Belfast, Europe/Paris, Europe/Helsinki, Europe/Brussels, Europe/Belgrade, Europe/Zurich, Europe/Madrid, or an offset such as +02:00
  SELECT ts AT TIME ZONE 'Europe/Berlim' FROM trades
            ^
----------
SELECT ts AT TIME ZONE 'Europe/Berlin' AT TIME ZONE 'UTC' FROM trades
=>
UnsupportedError: line 1, column 40: AT TIME ZONE behind another is not supported: write to_utc_timestamp(ts, 'zone') for the instant of a local time
  SELECT ts AT TIME ZONE 'Europe/Berlin' AT TIME ZONE 'UTC' FROM trades
                                         ^
----------
SELECT ts AT TIME ZONE symbol FROM trades
=>
SqlError: line 1, column 11: from_utc_timestamp needs a constant here, not the pattern symbol
  SELECT ts AT TIME ZONE symbol FROM trades
            ^
----------
SELECT ts AT TIME ZONE FROM trades
=>
SqlError: line 1, column 24: expected the name of a time zone, got 'FROM'
  SELECT ts AT TIME ZONE FROM trades
                         ^
----------
SELECT from_utc_timestamp(qty, 'UTC') FROM trades
=>
SqlError: line 1, column 8: from_utc_timestamp does not take (BIGINT, STRING); valid: from_utc_timestamp(timestamp, 'zone') or timestamp AT TIME ZONE 'zone'
  SELECT from_utc_timestamp(qty, 'UTC') FROM trades
         ^
----------
