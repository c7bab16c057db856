-- a temporal filter is a window
SELECT qty FROM trades WHERE ts > now() - INTERVAL '5' MINUTE
=>
Project  qty                            WKS
  StreamScan  trades [RANGE 5 MINUTES]  WKS
----------
-- at the boundary, too
SELECT qty FROM trades WHERE CURRENT_TIMESTAMP <= ts + INTERVAL '5' MINUTE AND qty > 3
=>
Project  qty                                     WKS
  Filter  (qty > 3)                              WKS
    StreamScan  trades [RANGE 5 MINUTES + 1 us]  WKS
----------
-- both bounds; a group needs no other window
SELECT symbol, count(*) AS n FROM trades WHERE ts BETWEEN now() - INTERVAL '5' MINUTE AND now() GROUP BY symbol
=>
Project  symbol, COUNT(*) AS n                   WK
  GroupBy  symbol: COUNT(*)                      WK
    StreamScan  trades [RANGE 5 MINUTES + 1 us]  WKS
----------
-- a window is cut, and not made longer
SELECT t.qty FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 HOUR] q WHERE t.symbol = q.symbol AND now() - t.ts < INTERVAL '5' MINUTE AND now() - q.ts < INTERVAL '5' MINUTE
=>
Project  t.qty                              WK
  Filter  (t.symbol = q.symbol)             WK
    Product                                 WK
      StreamScan  trades [RANGE 1 MINUTE]   WKS
      StreamScan  quotes [RANGE 5 MINUTES]  WKS
----------
-- a sub-query
SELECT qty FROM (SELECT ts, qty FROM trades WHERE qty > 3 UNION ALL SELECT ts, size FROM quotes) x WHERE ts > now() - INTERVAL '5' MINUTE
=>
Project  qty                                   WKS
  Union                                        WKS
    Project  ts, qty                           WKS
      Filter  (qty > 3)                        WKS
        StreamScan  trades [RANGE 5 MINUTES]   WKS
    Project  ts, CAST(size AS BIGINT) AS size  WKS
      Project  ts, size                        WKS
        StreamScan  quotes [RANGE 5 MINUTES]   WKS
----------
-- EXISTS
SELECT qty FROM trades [RANGE 1 HOUR] t WHERE EXISTS (SELECT 1 FROM quotes q WHERE q.symbol = t.symbol AND q.ts > now() - INTERVAL '1' MINUTE)
=>
Project  qty                             STR
  SemiJoin  t.symbol = q.symbol          STR
    StreamScan  trades [RANGE 1 HOUR]    WKS
    StreamScan  quotes [RANGE 1 MINUTE]  WKS
----------
-- of rows that may be NULL
SELECT t.qty, q.bid FROM trades [RANGE 1 HOUR] t LEFT JOIN quotes [RANGE 1 HOUR] q ON t.symbol = q.symbol WHERE q.ts > now() - INTERVAL '5' MINUTE
=>
Project  t.qty, q.bid                         STR
  Filter  is_not_null(q.ts)                   STR
    Union                                     STR
      Join  t.symbol = q.symbol               WK
        StreamScan  trades [RANGE 1 HOUR]     WKS
        StreamScan  quotes [RANGE 5 MINUTES]  WKS
      Project  t.ts, t.symbol, t.price, t.qty, NULL AS ts, NULL AS symbol, NULL AS bid, NULL AS size  STR
        AntiJoin  t.symbol = q.symbol         STR
          StreamScan  trades [RANGE 1 HOUR]   WKS
          StreamScan  quotes [RANGE 1 HOUR]   WKS
----------
