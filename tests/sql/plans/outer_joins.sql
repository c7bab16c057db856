-- what ON says of the right side alone filters it
SELECT * FROM trades t LEFT JOIN quotes q ON t.symbol = q.symbol AND q.bid > 1 AND t.price > 2 AND q.bid > t.price WINDOW 1 SECOND
=>
Project  t.ts, t.symbol, t.price, t.qty, q.ts AS ts_1, q.symbol AS symbol_1, q.bid, q.size  STR
  Union                                                                                     STR
    Join  t.symbol = q.symbol AND ((t.price > 2.0) AND (q.bid > t.price))                   WK
      StreamScan  trades [RANGE 1 SECOND]                                                   WKS
      Filter  (q.bid > 1.0)                                                                 WKS
        StreamScan  quotes [RANGE 1 SECOND]                                                 WKS
    Project  t.ts, t.symbol, t.price, t.qty, NULL AS ts, NULL AS symbol, NULL AS bid, NULL AS size  STR
      AntiJoin  t.symbol = q.symbol AND ((t.price > 2.0) AND (q.bid > t.price))             STR
        StreamScan  trades [RANGE 1 SECOND]                                                 WKS
        Filter  (q.bid > 1.0) (as in line 5)                                                WKS
----------
-- the same mirrored
SELECT * FROM trades t RIGHT OUTER JOIN quotes q ON t.symbol = q.symbol AND q.bid > 1 AND t.price > 2 AND q.bid > t.price WINDOW 1 SECOND
=>
Project  t.ts, t.symbol, t.price, t.qty, q.ts AS ts_1, q.symbol AS symbol_1, q.bid, q.size  STR
  Union                                                                                     STR
    Join  t.symbol = q.symbol AND ((q.bid > 1.0) AND (q.bid > t.price))                     WK
      Filter  (t.price > 2.0)                                                               WKS
        StreamScan  trades [RANGE 1 SECOND]                                                 WKS
      StreamScan  quotes [RANGE 1 SECOND]                                                   WKS
    Project  NULL AS ts, NULL AS symbol, NULL AS price, NULL AS qty, q.ts, q.symbol, q.bid, q.size  STR
      AntiJoin  q.symbol = t.symbol AND ((q.bid > 1.0) AND (q.bid > t.price))               STR
        StreamScan  quotes [RANGE 1 SECOND]                                                 WKS
        Filter  (t.price > 2.0) (as in line 4)                                              WKS
----------
-- rows of both sides stay
SELECT t.price, q.bid FROM trades t FULL JOIN quotes q ON t.symbol = q.symbol AND q.bid > 1 AND t.price > 2 WINDOW 1 SECOND
=>
Project  t.price, q.bid                                                      STR
  Union                                                                      STR
    Join  t.symbol = q.symbol AND ((t.price > 2.0) AND (q.bid > 1.0))        WK
      StreamScan  trades [RANGE 1 SECOND]                                    WKS
      StreamScan  quotes [RANGE 1 SECOND]                                    WKS
    Project  t.ts, t.symbol, t.price, t.qty, NULL AS ts, NULL AS symbol, NULL AS bid, NULL AS size  STR
      AntiJoin  t.symbol = q.symbol AND ((t.price > 2.0) AND (q.bid > 1.0))  STR
        StreamScan  trades [RANGE 1 SECOND]                                  WKS
        StreamScan  quotes [RANGE 1 SECOND]                                  WKS
    Project  NULL AS ts, NULL AS symbol, NULL AS price, NULL AS qty, q.ts, q.symbol, q.bid, q.size  STR
      AntiJoin  q.symbol = t.symbol AND ((t.price > 2.0) AND (q.bid > 1.0))  STR
        StreamScan  quotes [RANGE 1 SECOND]                                  WKS
        StreamScan  trades [RANGE 1 SECOND]                                  WKS
----------
-- USING: of a row without a match the one symbol that it has
SELECT symbol, t.symbol, q.symbol FROM trades t FULL JOIN quotes q USING (symbol) WHERE symbol > 'a' WINDOW 1 SECOND
=>
Project  coalesce(t.symbol, q.symbol) AS symbol, t.symbol AS symbol_1, q.symbol AS symbol_2  STR
  Filter  (coalesce(t.symbol, q.symbol) > 'a')                                               STR
    Union                                                                                    STR
      Join  t.symbol = q.symbol                                                              WK
        StreamScan  trades [RANGE 1 SECOND]                                                  WKS
        StreamScan  quotes [RANGE 1 SECOND]                                                  WKS
      Project  t.ts, t.symbol, t.price, t.qty, NULL AS ts, NULL AS symbol, NULL AS bid, NULL AS size  STR
        AntiJoin  t.symbol = q.symbol                                                        STR
          StreamScan  trades [RANGE 1 SECOND]                                                WKS
          StreamScan  quotes [RANGE 1 SECOND]                                                WKS
      Project  NULL AS ts, NULL AS symbol, NULL AS price, NULL AS qty, q.ts, q.symbol, q.bid, q.size  STR
        AntiJoin  q.symbol = t.symbol                                                        STR
          StreamScan  quotes [RANGE 1 SECOND]                                                WKS
          StreamScan  trades [RANGE 1 SECOND]                                                WKS
----------
SELECT * FROM trades t LEFT JOIN quotes q USING (symbol) RIGHT JOIN orders USING (symbol) WINDOW 1 SECOND
=>
Project  t.ts, coalesce(t.symbol, orders.symbol) AS symbol, t.price, t.qty, q.ts AS ts_1, q.bid, q.size, orders.ts AS ts_2, orders.id, orders.qty AS qty_1  STR
  Union                                          STR
    Join  t.symbol = orders.symbol               STR
      Union                                      STR
        Join  t.symbol = q.symbol                WK
          StreamScan  trades [RANGE 1 SECOND]    WKS
          StreamScan  quotes [RANGE 1 SECOND]    WKS
        Project  t.ts, t.symbol, t.price, t.qty, NULL AS ts, NULL AS symbol, NULL AS bid, NULL AS size  STR
          AntiJoin  t.symbol = q.symbol          STR
            StreamScan  trades [RANGE 1 SECOND]  WKS
            StreamScan  quotes [RANGE 1 SECOND]  WKS
      StreamScan  orders [RANGE 1 SECOND]        WKS
    Project  NULL AS ts, NULL AS symbol, NULL AS price, NULL AS qty, NULL AS ts, NULL AS symbol, NULL AS bid, NULL AS size, orders.ts, orders.id, orders.symbol, orders.qty  STR
      AntiJoin  orders.symbol = t.symbol         STR
        StreamScan  orders [RANGE 1 SECOND]      WKS
        Union (as in line 4)                     STR
----------
SELECT symbol, COUNT(*) FROM trades FULL JOIN quotes USING (symbol) GROUP BY symbol WINDOW 1 SECOND
=>
Project  coalesce(trades.symbol, quotes.symbol) AS symbol, COUNT(*)  WK
  GroupBy  coalesce(trades.symbol, quotes.symbol): COUNT(*)          WK
    Union                                                            STR
      Join  trades.symbol = quotes.symbol                            WK
        StreamScan  trades [RANGE 1 SECOND]                          WKS
        StreamScan  quotes [RANGE 1 SECOND]                          WKS
      Project  trades.ts, trades.symbol, trades.price, trades.qty, NULL AS ts, NULL AS symbol, NULL AS bid, NULL AS size  STR
        AntiJoin  trades.symbol = quotes.symbol                      STR
          StreamScan  trades [RANGE 1 SECOND]                        WKS
          StreamScan  quotes [RANGE 1 SECOND]                        WKS
      Project  NULL AS ts, NULL AS symbol, NULL AS price, NULL AS qty, quotes.ts, quotes.symbol, quotes.bid, quotes.size  STR
        AntiJoin  quotes.symbol = trades.symbol                      STR
          StreamScan  quotes [RANGE 1 SECOND]                        WKS
          StreamScan  trades [RANGE 1 SECOND]                        WKS
----------
-- the left side is all that stands before, with what ON said of it; WHERE comes after
SELECT t.price FROM trades t JOIN orders o ON t.symbol = o.symbol LEFT JOIN quotes q ON q.symbol = o.symbol, companies c WHERE q.bid IS NULL AND c.symbol = t.symbol WINDOW 1 SECOND
=>
Project  t.price                                          STR
  Filter  (is_null(q.bid) AND (c.symbol = t.symbol))      STR
    Product                                               STR
      Union                                               STR
        Join  o.symbol = q.symbol                         WK
          Filter  (t.symbol = o.symbol)                   WK
            Product                                       WK
              StreamScan  trades [RANGE 1 SECOND]         WKS
              StreamScan  orders [RANGE 1 SECOND]         WKS
          StreamScan  quotes [RANGE 1 SECOND]             WKS
        Project  t.ts, t.symbol, t.price, t.qty, o.ts, o.id, o.symbol, o.qty, NULL AS ts, NULL AS symbol, NULL AS bid, NULL AS size  STR
          AntiJoin  o.symbol = q.symbol                   STR
            Filter  (t.symbol = o.symbol) (as in line 6)  WK
            StreamScan  quotes [RANGE 1 SECOND]           WKS
      TableScan  companies                                MONOTONIC
----------
-- a static table needs no windows
SELECT price, country FROM trades LEFT JOIN companies USING (symbol) LEFT JOIN sectors USING (sector)
=>
Project  trades.price, sectors.country                      MONOTONIC
  Union                                                     MONOTONIC
    LookupJoin  companies.sector = sectors.sector           MONOTONIC
      Union                                                 MONOTONIC
        LookupJoin  trades.symbol = companies.symbol        MONOTONIC
          StreamScan  trades [UNBOUNDED]                    MONOTONIC
          TableScan  companies                              MONOTONIC
        Project  trades.ts, trades.symbol, trades.price, trades.qty, NULL AS symbol, NULL AS sector  MONOTONIC
          LookupAntiJoin  trades.symbol = companies.symbol  MONOTONIC
            StreamScan  trades [UNBOUNDED]                  MONOTONIC
            TableScan  companies                            MONOTONIC
      TableScan  sectors                                    MONOTONIC
    Project  trades.ts, trades.symbol, trades.price, trades.qty, companies.symbol, companies.sector, NULL AS sector, NULL AS country  MONOTONIC
      LookupAntiJoin  companies.sector = sectors.sector     MONOTONIC
        Union (as in line 4)                                MONOTONIC
        TableScan  sectors                                  MONOTONIC
----------
-- without ON every pair matches
SELECT t.price, q.bid FROM trades t LEFT JOIN quotes q WINDOW 1 SECOND
=>
Project  t.price, q.bid                      STR
  Union                                      STR
    Join  (every pair)                       WK
      StreamScan  trades [RANGE 1 SECOND]    WKS
      StreamScan  quotes [RANGE 1 SECOND]    WKS
    Project  t.ts, t.symbol, t.price, t.qty, NULL AS ts, NULL AS symbol, NULL AS bid, NULL AS size  STR
      AntiJoin  (any row)                    STR
        StreamScan  trades [RANGE 1 SECOND]  WKS
        StreamScan  quotes [RANGE 1 SECOND]  WKS
----------
