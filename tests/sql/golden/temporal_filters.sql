-- the clock has no value in the select list
SELECT now() AS n FROM trades
=>
SqlError: line 2, column 8: now() here is not supported: it is the query's clock, which WHERE compares with the event time of a stream, as in ts > now() - INTERVAL '5' MINUTE; the time of a result is its _ts
  SELECT now() AS n FROM trades
         ^
----------
-- nor without parentheses
SELECT qty, CURRENT_TIMESTAMP FROM trades
=>
UnsupportedError: line 2, column 13: CURRENT_TIMESTAMP here is not supported: it is the query's clock, which WHERE compares with the event time of a stream, as in ts > now() - INTERVAL '5' MINUTE; the time of a result is its _ts
  SELECT qty, CURRENT_TIMESTAMP FROM trades
              ^
----------
-- a bound below OR
SELECT qty FROM trades WHERE ts > now() - INTERVAL '5' MINUTE OR qty = 3
=>
UnsupportedError: line 2, column 30: now() here is not supported: compare it in WHERE, between ANDs, with the event time of a stream and a constant INTERVAL, as in ts > now() - INTERVAL '5' MINUTE
  SELECT qty FROM trades WHERE ts > now() - INTERVAL '5' MINUTE OR qty = 3
                               ^
----------
-- a function of the clock
SELECT qty FROM trades WHERE ts > date_trunc('hour', now())
=>
UnsupportedError: line 2, column 35: now() in an expression is not supported: compare it in WHERE, between ANDs, with the event time of a stream and a constant INTERVAL, as in ts > now() - INTERVAL '5' MINUTE
  SELECT qty FROM trades WHERE ts > date_trunc('hour', now())
                                    ^
----------
-- a column that is not the event time
SELECT qty FROM trades JOIN companies c ON c.symbol = trades.symbol WHERE qty > now()
=>
UnsupportedError: line 2, column 75: BIGINT beside now() is not supported: compare it in WHERE, between ANDs, with the event time of a stream and a constant INTERVAL, as in ts > now() - INTERVAL '5' MINUTE
  SELECT qty FROM trades JOIN companies c ON c.symbol = trades.symbol WHERE qty > now()
                                                                            ^
----------
-- not of a stream's rows
SELECT n FROM (SELECT max(ts) AS t, count(*) AS n FROM trades [NOW]) x WHERE t > now() - INTERVAL '1' DAY
=>
UnsupportedError: line 2, column 78: t: it is not the event time of a stream; now() is compared with that only
  SELECT n FROM (SELECT max(ts) AS t, count(*) AS n FROM trades [NOW]) x WHERE t > now() - INTERVAL '1' DAY
                                                                               ^
----------
-- rows that would become visible later
SELECT qty FROM trades WHERE ts < now() - INTERVAL '5' MINUTE
=>
UnsupportedError: line 2, column 30: a row is visible from its event time on, and not later: the upper bound of the event time is now() or later, as in ts <= now(); for what has had no row for a while write NOT EXISTS over a window
  SELECT qty FROM trades WHERE ts < now() - INTERVAL '5' MINUTE
                               ^
----------
-- rows that are never visible
SELECT qty FROM trades WHERE ts > now()
=>
SqlError: line 2, column 30: no row satisfies this: a row is visible from its event time on
  SELECT qty FROM trades WHERE ts > now()
                               ^
----------
-- windows without a length in time
SELECT qty FROM trades [ROWS 3] WHERE ts > now() - INTERVAL '5' MINUTE
=>
UnsupportedError: line 2, column 39: ts: the window [ROWS 3] has no length in time: read the stream without it, or leave now() out
  SELECT qty FROM trades [ROWS 3] WHERE ts > now() - INTERVAL '5' MINUTE
                                        ^
----------
-- windows between fixed instants
SELECT qty FROM trades [TUMBLE 1 MINUTE] WHERE ts > now() - INTERVAL '5' MINUTE
=>
UnsupportedError: line 2, column 48: ts: a window between fixed instants cannot be cut; leave now() out
  SELECT qty FROM trades [TUMBLE 1 MINUTE] WHERE ts > now() - INTERVAL '5' MINUTE
                                                 ^
----------
-- of GROUP BY
SELECT count(*) AS n FROM trades WHERE ts > now() - INTERVAL '5' MINUTE GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)
=>
UnsupportedError: line 2, column 40: now() beside a window in GROUP BY is not supported: the rows of a window stay until it ends
  SELECT count(*) AS n FROM trades WHERE ts > now() - INTERVAL '5' MINUTE GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)
                                         ^
----------
-- the other stream of a join has no window
SELECT t.qty FROM trades t, quotes q WHERE t.symbol = q.symbol AND t.ts > now() - INTERVAL '5' MINUTE
=>
SqlError: line 2, column 29: a join needs a window on stream 'quotes'; write quotes [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS. Or bound the times of the rows that are joined, as in t.ts <= q.ts + INTERVAL '10' SECOND
  SELECT t.qty FROM trades t, quotes q WHERE t.symbol = q.symbol AND t.ts > now() - INTERVAL '5' MINUTE
                              ^
----------
