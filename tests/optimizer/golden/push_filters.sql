-- to the inputs of a product that they read
SELECT t.price FROM trades [NOW] t, quotes [NOW] q WHERE t.symbol = q.symbol AND t.price > 1 AND q.bid < t.price AND q.size = 3
=>
Project  t.price                                                                              WK
  Filter  ((t.symbol = q.symbol) AND (t.price > 1.0) AND (q.bid < t.price) AND (q.size = 3))  WK
    Product                                                                                   WK
      StreamScan  trades [NOW]                                                                WKS
      StreamScan  quotes [NOW]                                                                WKS
==>
Project  t.price                                         WK
  Filter  ((t.symbol = q.symbol) AND (q.bid < t.price))  WK
    Product                                              WK
      Filter  (t.price > 1.0)                            WKS
        StreamScan  trades [NOW]                         WKS
      Filter  (q.size = 3)                               WKS
        StreamScan  quotes [NOW]                         WKS
----------
-- what is said of one side of an equality holds for the other
SELECT t.price FROM trades [NOW] t, quotes [NOW] q WHERE t.symbol = q.symbol AND t.symbol LIKE 'a%'
=>
Project  t.price                                            WK
  Filter  ((t.symbol = q.symbol) AND like(t.symbol, 'a%'))  WK
    Product                                                 WK
      StreamScan  trades [NOW]                              WKS
      StreamScan  quotes [NOW]                              WKS
==>
Project  t.price                    WK
  Filter  (t.symbol = q.symbol)     WK
    Product                         WK
      Filter  like(t.symbol, 'a%')  WKS
        StreamScan  trades [NOW]    WKS
      Filter  like(q.symbol, 'a%')  WKS
        StreamScan  quotes [NOW]    WKS
----------
-- but not for floats, where 0.0 equals -0.0
SELECT t.price FROM trades [NOW] t, quotes [NOW] q WHERE t.price = q.bid AND t.price > 1
=>
Project  t.price                                   WK
  Filter  ((t.price = q.bid) AND (t.price > 1.0))  WK
    Product                                        WK
      StreamScan  trades [NOW]                     WKS
      StreamScan  quotes [NOW]                     WKS
==>
Project  t.price                  WK
  Filter  (t.price = q.bid)       WK
    Product                       WK
      Filter  (t.price > 1.0)     WKS
        StreamScan  trades [NOW]  WKS
      StreamScan  quotes [NOW]    WKS
----------
-- through projections and sub-queries
SELECT more FROM (SELECT price + 1 AS more, symbol FROM trades) WHERE more > 2 AND symbol = 'a'
=>
Project  more                                MONOTONIC
  Filter  ((more > 2.0) AND (symbol = 'a'))  MONOTONIC
    Project  (price + 1.0) AS more, symbol   MONOTONIC
      StreamScan  trades [UNBOUNDED]         MONOTONIC
==>
Project  more                                           MONOTONIC
  Project  (price + 1.0) AS more, symbol                MONOTONIC
    Filter  (((price + 1.0) > 2.0) AND (symbol = 'a'))  MONOTONIC
      StreamScan  trades [UNBOUNDED]                    MONOTONIC
----------
-- into every input of a union
SELECT p FROM (SELECT price AS p FROM trades UNION ALL SELECT bid FROM quotes) WHERE p > 1
=>
Project  p                              MONOTONIC
  Filter  (p > 1.0)                     MONOTONIC
    Union                               MONOTONIC
      Project  price AS p               MONOTONIC
        StreamScan  trades [UNBOUNDED]  MONOTONIC
      Project  bid                      MONOTONIC
        StreamScan  quotes [UNBOUNDED]  MONOTONIC
==>
Project  p                              MONOTONIC
  Union                                 MONOTONIC
    Project  price AS p                 MONOTONIC
      Filter  (price > 1.0)             MONOTONIC
        StreamScan  trades [UNBOUNDED]  MONOTONIC
    Project  bid                        MONOTONIC
      Filter  (bid > 1.0)               MONOTONIC
        StreamScan  quotes [UNBOUNDED]  MONOTONIC
----------
-- below DISTINCT
SELECT symbol FROM (SELECT DISTINCT symbol FROM trades [NOW]) WHERE symbol = 'a'
=>
Project  symbol                   WK
  Filter  (symbol = 'a')          WK
    Distinct                      WK
      Project  symbol             WKS
        StreamScan  trades [NOW]  WKS
==>
Project  symbol                   WK
  Distinct                        WK
    Project  symbol               WKS
      Filter  (symbol = 'a')      WKS
        StreamScan  trades [NOW]  WKS
----------
-- below GROUP BY on keys only
SELECT symbol, COUNT(*) FROM trades [NOW] GROUP BY symbol HAVING symbol = 'a' AND COUNT(*) > 1
=>
Project  symbol, COUNT(*)                      WK
  Filter  ((symbol = 'a') AND (COUNT(*) > 1))  WK
    GroupBy  symbol: COUNT(*)                  WK
      StreamScan  trades [NOW]                 WKS
==>
Project  symbol, COUNT(*)         WK
  Filter  (COUNT(*) > 1)          WK
    GroupBy  symbol: COUNT(*)     WK
      Filter  (symbol = 'a')      WKS
        StreamScan  trades [NOW]  WKS
----------
-- not below a global aggregate: its row exists even without input
SELECT COUNT(*) FROM trades [NOW] HAVING FALSE
=>
Project  COUNT(*)               WK
  Filter  False                 WK
    GroupBy  (): COUNT(*)       WK
      StreamScan  trades [NOW]  WKS
==>
(unchanged)
----------
-- a ROWS window counts before any filter: the Filter stays above the scan
SELECT price FROM trades [ROWS 10] WHERE price > 1
=>
Project  price                    STR
  Filter  (price > 1.0)           STR
    StreamScan  trades [ROWS 10]  STR
==>
(unchanged)
----------
SELECT price FROM cheap WHERE symbol = 'a'
=>
Project  price                        STR
  Filter  (symbol = 'a')              STR
    Project  symbol, price            STR
      Filter  (price < 5.0)           STR
        StreamScan  trades [ROWS 10]  STR
==>
Project  price                                  STR
  Project  symbol, price                        STR
    Filter  ((price < 5.0) AND (symbol = 'a'))  STR
      StreamScan  trades [ROWS 10]              STR
----------
-- constants stay where they are
SELECT t.price FROM trades [NOW] t, quotes [NOW] q WHERE 1 = 2
=>
Project  t.price                WK
  Filter  (1 = 2)               WK
    Product                     WK
      StreamScan  trades [NOW]  WKS
      StreamScan  quotes [NOW]  WKS
==>
(unchanged)
----------
