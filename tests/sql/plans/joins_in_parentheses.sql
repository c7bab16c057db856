-- the plan has the shape that was written
SELECT t.price, o.id FROM (trades [NOW] t JOIN quotes [NOW] q ON t.symbol = q.symbol) JOIN (orders [NOW] o JOIN companies c USING (symbol)) ON o.qty = q.size WHERE t.price > 1
=>
Project  t.price, o.id                            WK
  Filter  ((o.qty = q.size) AND (t.price > 1.0))  WK
    Product                                       WK
      Filter  (t.symbol = q.symbol)               WK
        Product                                   WK
          StreamScan  trades [NOW]                WKS
          StreamScan  quotes [NOW]                WKS
      Filter  (o.symbol = c.symbol)               WKS
        Product                                   WKS
          StreamScan  orders [NOW]                WKS
          TableScan  companies                    MONOTONIC
----------
-- the same, ON behind ON
SELECT t.price FROM trades [NOW] t JOIN quotes [NOW] q JOIN orders [NOW] o ON q.symbol = o.symbol ON t.symbol = q.symbol
=>
Project  t.price                     WK
  Filter  (t.symbol = q.symbol)      WK
    Product                          WK
      StreamScan  trades [NOW]       WKS
      Filter  (q.symbol = o.symbol)  WK
        Product                      WK
          StreamScan  quotes [NOW]   WKS
          StreamScan  orders [NOW]   WKS
----------
-- a window for the streams inside
SELECT t.price FROM trades [NOW] t LEFT JOIN (quotes q JOIN orders o USING (symbol)) [RANGE 5 SECONDS] USING (symbol)
=>
Project  t.price                                      STR
  Union                                               STR
    Join  t.symbol = q.symbol                         WK
      StreamScan  trades [NOW]                        WKS
      Filter  (q.symbol = o.symbol)                   WK
        Product                                       WK
          StreamScan  quotes [RANGE 5 SECONDS]        WKS
          StreamScan  orders [RANGE 5 SECONDS]        WKS
    Project  t.ts, t.symbol, t.price, t.qty, NULL AS ts, NULL AS symbol, NULL AS bid, NULL AS size, NULL AS ts, NULL AS id, NULL AS symbol, NULL AS qty  STR
      AntiJoin  t.symbol = q.symbol                   STR
        StreamScan  trades [NOW]                      WKS
        Filter  (q.symbol = o.symbol) (as in line 5)  WK
----------
-- of three columns that USING merges there is one value
SELECT symbol FROM trades [NOW] t RIGHT JOIN (quotes [NOW] q FULL JOIN orders [NOW] o USING (symbol)) USING (symbol)
=>
Project  coalesce(t.symbol, coalesce(q.symbol, o.symbol)) AS symbol  STR
  Union                                                              STR
    Join  t.symbol = coalesce(q.symbol, o.symbol)                    STR
      StreamScan  trades [NOW]                                       WKS
      Union                                                          STR
        Join  q.symbol = o.symbol                                    WK
          StreamScan  quotes [NOW]                                   WKS
          StreamScan  orders [NOW]                                   WKS
        Project  q.ts, q.symbol, q.bid, q.size, NULL AS ts, NULL AS id, NULL AS symbol, NULL AS qty  STR
          AntiJoin  q.symbol = o.symbol                              STR
            StreamScan  quotes [NOW]                                 WKS
            StreamScan  orders [NOW]                                 WKS
        Project  NULL AS ts, NULL AS symbol, NULL AS bid, NULL AS size, o.ts, o.id, o.symbol, o.qty  STR
          AntiJoin  o.symbol = q.symbol                              STR
            StreamScan  orders [NOW]                                 WKS
            StreamScan  quotes [NOW]                                 WKS
    Project  NULL AS ts, NULL AS symbol, NULL AS price, NULL AS qty, q.ts, q.symbol, q.bid, q.size, o.ts, o.id, o.symbol, o.qty  STR
      AntiJoin  coalesce(q.symbol, o.symbol) = t.symbol              STR
        Union (as in line 5)                                         STR
        StreamScan  trades [NOW]                                     WKS
----------
-- a sub-query joined in parentheses
SELECT * FROM ((SELECT symbol FROM trades [NOW]) AS s JOIN quotes [NOW] USING (symbol)) JOIN companies USING (symbol)
=>
Project  s.symbol, quotes.ts, quotes.bid, quotes.size, companies.sector  WK
  Filter  (s.symbol = companies.symbol)                                  WK
    Product                                                              WK
      Filter  (s.symbol = quotes.symbol)                                 WK
        Product                                                          WK
          Project  symbol                                                WKS
            StreamScan  trades [NOW]                                     WKS
          StreamScan  quotes [NOW]                                       WKS
      TableScan  companies                                               MONOTONIC
----------
-- a result of the whole looks a non-retroactive table up
SELECT t.price, rate FROM trades [NOW] t JOIN (quotes [NOW] q JOIN rates USING (symbol)) ON t.symbol = q.symbol AND q.bid > rate
=>
Project  t.price, rates.rate                                                              WK
  Filter  ((q.symbol = rates.symbol) AND (t.symbol = q.symbol) AND (q.bid > rates.rate))  WK
    Product                                                                               WK
      StreamScan  trades [NOW]                                                            WKS
      StreamScan  quotes [NOW]                                                            WKS
      TableScan  rates (non-retroactive)                                                  MONOTONIC
----------
SELECT 1 AS one FROM trades [NOW] t WHERE EXISTS (SELECT * FROM (quotes [NOW] q JOIN orders [NOW] o USING (symbol)) WHERE q.symbol = t.symbol)
=>
Project  1 AS one                  STR
  SemiJoin  t.symbol = q.symbol    STR
    StreamScan  trades [NOW]       WKS
    Filter  (q.symbol = o.symbol)  WK
      Product                      WK
        StreamScan  quotes [NOW]   WKS
        StreamScan  orders [NOW]   WKS
----------
