-- what GROUP BY says about its keys, HAVING with a sub-query in other words
SELECT g.symbol, g.n FROM (SELECT symbol, COUNT(*) AS n FROM trades [NOW] GROUP BY symbol) AS g WHERE g.symbol IN (SELECT symbol FROM companies WHERE sector = 'IT') AND g.n > 1
=>
Project  symbol, n                             WK
  LookupSemiJoin  g.symbol = companies.symbol  WK
    Filter  (n > 1)                            WK
      Project  symbol, COUNT(*) AS n           WK
        GroupBy  symbol: COUNT(*)              WK
          StreamScan  trades [NOW]             WKS
    Filter  (companies.sector = 'IT')          MONOTONIC
      TableScan  companies                     MONOTONIC
==>
Project  symbol, n                                   WK
  Filter  (n > 1)                                    WK
    Project  symbol, COUNT(*) AS n                   WK
      GroupBy  symbol: COUNT(*)                      WK
        LookupSemiJoin  g.symbol = companies.symbol  WKS
          StreamScan  trades [NOW]                   WKS
          Filter  (companies.sector = 'IT')          MONOTONIC
            TableScan  companies                     MONOTONIC
----------
-- likewise what there is no row for; through DISTINCT and two groupings
SELECT DISTINCT g.s FROM (SELECT s, SUM(n) AS m FROM (SELECT symbol AS s, qty, COUNT(*) AS n FROM trades [NOW] GROUP BY symbol, qty) AS b GROUP BY s) AS g WHERE NOT EXISTS (SELECT * FROM companies AS c WHERE c.symbol = g.s AND c.sector < g.s)
=>
Distinct                                                 WK
  Project  s                                             WK
    LookupAntiJoin  g.s = c.symbol AND (c.sector < g.s)  WK
      Project  s, SUM(n) AS m                            WK
        GroupBy  s: SUM(n)                               WK
          Project  symbol AS s, qty, COUNT(*) AS n       WK
            GroupBy  symbol, qty: COUNT(*)               WK
              StreamScan  trades [NOW]                   WKS
      TableScan  companies                               MONOTONIC
==>
Distinct                                                               WK
  Project  s                                                           WK
    Project  s, SUM(n) AS m                                            WK
      GroupBy  s: SUM(n)                                               WK
        Project  symbol AS s, qty, COUNT(*) AS n                       WK
          GroupBy  symbol, qty: COUNT(*)                               WK
            LookupAntiJoin  symbol = c.symbol AND (c.sector < symbol)  WKS
              StreamScan  trades [NOW]                                 WKS
              TableScan  companies                                     MONOTONIC
----------
-- not about aggregates
SELECT g.symbol FROM (SELECT symbol, MIN(symbol) AS first FROM trades [NOW] GROUP BY symbol) AS g WHERE EXISTS (SELECT * FROM companies AS c WHERE c.symbol = g.first)
=>
Project  symbol                            WK
  LookupSemiJoin  g.first = c.symbol       WK
    Project  symbol, MIN(symbol) AS first  WK
      GroupBy  symbol: MIN(symbol)         WK
        StreamScan  trades [NOW]           WKS
    TableScan  companies                   MONOTONIC
==>
(unchanged)
----------
-- not what compares an aggregate besides
SELECT g.symbol FROM (SELECT symbol, MIN(symbol) AS first FROM trades [NOW] GROUP BY symbol) AS g WHERE EXISTS (SELECT * FROM companies AS c WHERE c.symbol = g.symbol AND c.sector < g.first)
=>
Project  symbol                                                 WK
  LookupSemiJoin  g.symbol = c.symbol AND (c.sector < g.first)  WK
    Project  symbol, MIN(symbol) AS first                       WK
      GroupBy  symbol: MIN(symbol)                              WK
        StreamScan  trades [NOW]                                WKS
    TableScan  companies                                        MONOTONIC
==>
(unchanged)
----------
-- not on tables that change, nor on streams
SELECT g.symbol FROM (SELECT symbol, COUNT(*) AS n FROM trades [NOW] GROUP BY symbol) AS g WHERE EXISTS (SELECT * FROM limits AS l WHERE l.symbol = g.symbol) AND EXISTS (SELECT * FROM quotes [NOW] AS q WHERE q.symbol = g.symbol)
=>
Project  symbol                        STR
  SemiJoin  g.symbol = q.symbol        STR
    SemiJoin  g.symbol = l.symbol      STR
      Project  symbol, COUNT(*) AS n   WK
        GroupBy  symbol: COUNT(*)      WK
          StreamScan  trades [NOW]     WKS
      TableScan  limits (retroactive)  STR
    StreamScan  quotes [NOW]           WKS
==>
(unchanged)
----------
-- not below the group of all rows
SELECT n FROM (SELECT COUNT(*) AS n FROM trades [NOW]) AS g WHERE EXISTS (SELECT * FROM companies WHERE sector = 'IT')
=>
Project  n                             WK
  LookupSemiJoin  (any row)            WK
    Project  COUNT(*) AS n             WK
      GroupBy  (): COUNT(*)            WK
        StreamScan  trades [NOW]       WKS
    Filter  (companies.sector = 'IT')  MONOTONIC
      TableScan  companies             MONOTONIC
==>
(unchanged)
----------
-- nor what is computed from a float: 0.0 and -0.0 are one group
SELECT g.price FROM (SELECT price, COUNT(*) AS n FROM trades [NOW] GROUP BY price) AS g WHERE EXISTS (SELECT * FROM companies AS c WHERE c.symbol = CAST(1 / g.price AS STRING))
=>
Project  price                                                WK
  LookupSemiJoin  CAST((1.0 / g.price) AS STRING) = c.symbol  WK
    Project  price, COUNT(*) AS n                             WK
      GroupBy  price: COUNT(*)                                WK
        StreamScan  trades [NOW]                              WKS
    TableScan  companies                                      MONOTONIC
==>
(unchanged)
----------
