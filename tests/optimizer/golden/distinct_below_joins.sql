-- the values of either side are few: each is made distinct before the join, and that is enough
SELECT DISTINCT t.symbol FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q WHERE t.symbol = q.symbol
=>
Distinct                                   WK
  Project  t.symbol                        WK
    Join  t.symbol = q.symbol              WK
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  quotes [RANGE 1 MINUTE]  WKS
==>
Project  t.symbol                            WK
  Join  t.symbol = q.symbol                  WK
    Distinct                                 WK
      Project  symbol                        WKS
        StreamScan  trades [RANGE 1 MINUTE]  WKS
    Distinct                                 WK
      Project  symbol                        WKS
        StreamScan  quotes [RANGE 1 MINUTE]  WKS
----------
-- a column of one side only, and a residual: the pairs are not distinct, so the upper one stays
-- known: trades.price 20 values, quotes.bid 20 values
SELECT DISTINCT t.symbol FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q WHERE t.symbol = q.symbol AND t.price > q.bid
=>
Distinct                                             WK
  Project  t.symbol                                  WK
    Join  t.symbol = q.symbol AND (t.price > q.bid)  WK
      StreamScan  trades [RANGE 1 MINUTE]            WKS
      StreamScan  quotes [RANGE 1 MINUTE]            WKS
==>
Distinct                                             WK
  Project  t.symbol                                  WK
    Join  t.symbol = q.symbol AND (t.price > q.bid)  WK
      Distinct                                       WK
        Project  symbol, price                       WKS
          StreamScan  trades [RANGE 1 MINUTE]        WKS
      Distinct                                       WK
        Project  symbol, bid                         WKS
          StreamScan  quotes [RANGE 1 MINUTE]        WKS
----------
-- all that the join reads is in the select list
-- known: trades.price 20 values, quotes.bid 20 values, quotes.size 2 values
SELECT DISTINCT q.symbol, q.size + 1, t.price, q.bid, q.size FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q WHERE t.symbol = q.symbol AND t.price > q.bid
=>
Distinct                                                                 WK
  Project  q.symbol, (q.size + 1) AS q.size + 1, t.price, q.bid, q.size  WK
    Join  t.symbol = q.symbol AND (t.price > q.bid)                      WK
      StreamScan  trades [RANGE 1 MINUTE]                                WKS
      StreamScan  quotes [RANGE 1 MINUTE]                                WKS
==>
Project  q.symbol, (q.size + 1) AS q.size + 1, t.price, q.bid, q.size  WK
  Join  t.symbol = q.symbol AND (t.price > q.bid)                      WK
    Distinct                                                           WK
      Project  symbol, price                                           WKS
        StreamScan  trades [RANGE 1 MINUTE]                            WKS
    Distinct                                                           WK
      Project  symbol, bid, size                                       WKS
        StreamScan  quotes [RANGE 1 MINUTE]                            WKS
----------
-- one side has about as many values as rows: only the other is worth it
-- known: quotes.size 2 values
SELECT DISTINCT t.symbol FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q WHERE t.symbol = q.symbol AND t.ts <> CAST(q.size AS TIMESTAMP)
=>
Distinct                                                               WK
  Project  t.symbol                                                    WK
    Join  t.symbol = q.symbol AND (t.ts <> CAST(q.size AS TIMESTAMP))  WK
      StreamScan  trades [RANGE 1 MINUTE]                              WKS
      StreamScan  quotes [RANGE 1 MINUTE]                              WKS
==>
Distinct                                                               WK
  Project  t.symbol                                                    WK
    Join  t.symbol = q.symbol AND (t.ts <> CAST(q.size AS TIMESTAMP))  WK
      StreamScan  trades [RANGE 1 MINUTE]                              WKS
      Distinct                                                         WK
        Project  symbol, size                                          WKS
          StreamScan  quotes [RANGE 1 MINUTE]                          WKS
----------
-- both have: the join would keep as much as before
SELECT DISTINCT t.symbol FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q WHERE t.symbol = q.symbol AND t.ts < q.ts
=>
Distinct                                         WK
  Project  t.symbol                              WK
    Join  t.symbol = q.symbol AND (t.ts < q.ts)  WK
      StreamScan  trades [RANGE 1 MINUTE]        WKS
      StreamScan  quotes [RANGE 1 MINUTE]        WKS
==>
(unchanged)
----------
-- but it pays if then the many results need no DISTINCT
SELECT DISTINCT t.ts, q.ts, t.symbol FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q WHERE t.symbol = q.symbol
=>
Distinct                                   WK
  Project  t.ts, q.ts AS ts_1, t.symbol    WK
    Join  t.symbol = q.symbol              WK
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  quotes [RANGE 1 MINUTE]  WKS
==>
Project  t.ts, q.ts AS ts_1, t.symbol        WK
  Join  t.symbol = q.symbol                  WK
    Distinct                                 WK
      Project  ts, symbol                    WKS
        StreamScan  trades [RANGE 1 MINUTE]  WKS
    Distinct                                 WK
      Project  ts, symbol                    WKS
        StreamScan  quotes [RANGE 1 MINUTE]  WKS
----------
SELECT DISTINCT t.symbol FROM trades [NOW] t, quotes [NOW] q WHERE t.symbol = q.symbol
=>
Distinct                        WK
  Project  t.symbol             WK
    Join  t.symbol = q.symbol   WK
      StreamScan  trades [NOW]  WKS
      StreamScan  quotes [NOW]  WKS
==>
(unchanged)
----------
-- several joins: all the way down
SELECT DISTINCT t.symbol FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q, orders [RANGE 1 MINUTE] o WHERE t.symbol = q.symbol AND o.symbol = t.symbol AND o.qty = q.size
=>
Distinct                                          WK
  Project  t.symbol                               WK
    Join  t.symbol = o.symbol AND q.size = o.qty  WK
      Join  t.symbol = q.symbol                   WK
        StreamScan  trades [RANGE 1 MINUTE]       WKS
        StreamScan  quotes [RANGE 1 MINUTE]       WKS
      StreamScan  orders [RANGE 1 MINUTE]         WKS
==>
Distinct                                           WK
  Project  t.symbol                                WK
    Join  t.symbol = o.symbol AND q.size = o.qty   WK
      Project  symbol, size                        WK
        Join  t.symbol = q.symbol                  WK
          Distinct                                 WK
            Project  symbol                        WKS
              StreamScan  trades [RANGE 1 MINUTE]  WKS
          Distinct                                 WK
            Project  symbol, size                  WKS
              StreamScan  quotes [RANGE 1 MINUTE]  WKS
      StreamScan  orders [RANGE 1 MINUTE]          WKS
----------
-- through projections
SELECT DISTINCT s FROM (SELECT t.symbol AS s, q.bid AS b FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q WHERE t.symbol = q.symbol) WHERE s <> 'a'
=>
Distinct                                       WK
  Project  s                                   WK
    Project  t.symbol AS s, q.bid AS b         WK
      Join  t.symbol = q.symbol                WK
        Filter  (t.symbol <> 'a')              WKS
          StreamScan  trades [RANGE 1 MINUTE]  WKS
        Filter  (q.symbol <> 'a')              WKS
          StreamScan  quotes [RANGE 1 MINUTE]  WKS
==>
Project  t.symbol AS s                         WK
  Join  t.symbol = q.symbol                    WK
    Distinct                                   WK
      Project  symbol                          WKS
        Filter  (t.symbol <> 'a')              WKS
          StreamScan  trades [RANGE 1 MINUTE]  WKS
    Distinct                                   WK
      Project  symbol                          WKS
        Filter  (q.symbol <> 'a')              WKS
          StreamScan  quotes [RANGE 1 MINUTE]  WKS
----------
-- inputs that are distinct already stay as they are
SELECT DISTINCT t.symbol FROM (SELECT DISTINCT symbol FROM trades [RANGE 1 MINUTE]) t, quotes [RANGE 1 MINUTE] q WHERE t.symbol = q.symbol
=>
Distinct                                       WK
  Project  t.symbol                            WK
    Join  t.symbol = q.symbol                  WK
      Distinct                                 WK
        Project  symbol                        WKS
          StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  quotes [RANGE 1 MINUTE]      WKS
==>
Project  t.symbol                            WK
  Join  t.symbol = q.symbol                  WK
    Distinct                                 WK
      Project  symbol                        WKS
        StreamScan  trades [RANGE 1 MINUTE]  WKS
    Distinct                                 WK
      Project  symbol                        WKS
        StreamScan  quotes [RANGE 1 MINUTE]  WKS
----------
-- a float that is only compared
-- known: trades.price 9 values, quotes.bid 9 values
SELECT DISTINCT t.price FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q WHERE t.price = q.bid
=>
Distinct                                   WK
  Project  t.price                         WK
    Join  t.price = q.bid                  WK
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  quotes [RANGE 1 MINUTE]  WKS
==>
Project  t.price                             WK
  Join  t.price = q.bid                      WK
    Distinct                                 WK
      Project  price                         WKS
        StreamScan  trades [RANGE 1 MINUTE]  WKS
    Distinct                                 WK
      Project  bid                           WKS
        StreamScan  quotes [RANGE 1 MINUTE]  WKS
----------
-- not where something else is computed from a float: 0.0 and -0.0 print differently
-- known: trades.price 9 values, quotes.bid 9 values
SELECT DISTINCT CAST(t.price AS STRING) FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q WHERE t.price = q.bid
=>
Distinct                                                       WK
  Project  CAST(t.price AS STRING) AS CAST(t.price AS STRING)  WK
    Join  t.price = q.bid                                      WK
      StreamScan  trades [RANGE 1 MINUTE]                      WKS
      StreamScan  quotes [RANGE 1 MINUTE]                      WKS
==>
Distinct                                                       WK
  Project  CAST(t.price AS STRING) AS CAST(t.price AS STRING)  WK
    Join  t.price = q.bid                                      WK
      StreamScan  trades [RANGE 1 MINUTE]                      WKS
      Distinct                                                 WK
        Project  bid                                           WKS
          StreamScan  quotes [RANGE 1 MINUTE]                  WKS
----------
-- not over a strict input; the other side can still be distinct
SELECT DISTINCT t.symbol FROM trades [ROWS 60000] t, quotes [RANGE 1 MINUTE] q WHERE t.symbol = q.symbol
=>
Distinct                                   STR
  Project  t.symbol                        STR
    Join  t.symbol = q.symbol              STR
      StreamScan  trades [ROWS 60000]      STR
      StreamScan  quotes [RANGE 1 MINUTE]  WKS
==>
Distinct                                       STR
  Project  t.symbol                            STR
    Join  t.symbol = q.symbol                  STR
      StreamScan  trades [ROWS 60000]          STR
      Distinct                                 WK
        Project  symbol                        WKS
          StreamScan  quotes [RANGE 1 MINUTE]  WKS
----------
-- not over groups, which replace each other; nor over negation
SELECT DISTINCT t.symbol FROM (SELECT symbol, COUNT(*) AS n FROM trades [RANGE 1 MINUTE] GROUP BY symbol) t, (SELECT symbol FROM quotes [RANGE 1 MINUTE] EXCEPT ALL SELECT symbol FROM orders [RANGE 1 MINUTE]) q WHERE t.symbol = q.symbol
=>
Distinct                                       STR
  Project  t.symbol                            STR
    Join  t.symbol = q.symbol                  STR
      Project  symbol, COUNT(*) AS n           WK
        GroupBy  symbol: COUNT(*)              WK
          StreamScan  trades [RANGE 1 MINUTE]  WKS
      Negation  symbol = symbol                STR
        Project  symbol                        WKS
          StreamScan  quotes [RANGE 1 MINUTE]  WKS
        Project  symbol                        WKS
          StreamScan  orders [RANGE 1 MINUTE]  WKS
==>
(unchanged)
----------
-- not over a table
-- known: companies.symbol 10 values
SELECT DISTINCT t.ts, c.symbol FROM trades [RANGE 1 MINUTE] t, companies c WHERE t.symbol = c.symbol
=>
Distinct                                   WK
  Project  t.ts, c.symbol                  WKS
    LookupJoin  t.symbol = c.symbol        WKS
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      TableScan  companies                 MONOTONIC
==>
(unchanged)
----------
-- not with a retroactive table as that side, whose rows come and go
SELECT DISTINCT t.symbol FROM trades [RANGE 1 MINUTE] t, limits l WHERE t.symbol = l.symbol
=>
Distinct                                   STR
  Project  t.symbol                        STR
    Join  t.symbol = l.symbol              STR
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      TableScan  limits (retroactive)      STR
==>
Distinct                                       STR
  Project  t.symbol                            STR
    Join  t.symbol = l.symbol                  STR
      Distinct                                 WK
        Project  symbol                        WKS
          StreamScan  trades [RANGE 1 MINUTE]  WKS
      TableScan  limits (retroactive)          STR
----------
-- never where a non-retroactive table is read: a result reflects it at the result's own time
SELECT DISTINCT t.symbol, r.rate FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q, rates r WHERE t.symbol = r.symbol AND q.symbol = t.symbol
=>
Distinct                                     WK
  Project  t.symbol, r.rate                  WK
    LookupJoin  t.symbol = r.symbol          WK
      Join  t.symbol = q.symbol              WK
        StreamScan  trades [RANGE 1 MINUTE]  WKS
        StreamScan  quotes [RANGE 1 MINUTE]  WKS
      TableScan  rates (non-retroactive)     MONOTONIC
==>
(unchanged)
----------
