SELECT t.symbol, t.price, q.bid FROM trades [RANGE 5 MINUTES] AS t, quotes [RANGE 30 SECONDS] AS q WHERE t.symbol = q.symbol AND t.price > 1.1 * q.bid
=>
Project  t.symbol, t.price, q.bid                                WK
  Filter  ((t.symbol = q.symbol) AND (t.price > (1.1 * q.bid)))  WK
    Product                                                      WK
      StreamScan  trades [RANGE 5 MINUTES]                       WKS
      StreamScan  quotes [RANGE 30 SECONDS]                      WKS
==>
Project  t.symbol, t.price, q.bid                          WK
  Join  t.symbol = q.symbol AND (t.price > (1.1 * q.bid))  WK
    StreamScan  trades [RANGE 5 MINUTES]                   WKS
    StreamScan  quotes [RANGE 30 SECONDS]                  WKS
----------
SELECT c.sector, COUNT(*) FROM companies c, trades [RANGE 1 MINUTE] t, orders [ROWS 100] o WHERE t.symbol = o.symbol AND o.symbol = c.symbol AND c.sector <> 'x' GROUP BY c.sector
=>
Project  sector, COUNT(*)                                                            WK
  GroupBy  c.sector: COUNT(*)                                                        WK
    Filter  ((t.symbol = o.symbol) AND (o.symbol = c.symbol) AND (c.sector <> 'x'))  STR
      Product                                                                        STR
        TableScan  companies                                                         MONOTONIC
        StreamScan  trades [RANGE 1 MINUTE]                                          WKS
        StreamScan  orders [ROWS 100]                                                STR
==>
GroupBy  c.sector: COUNT(*)                WK
  LookupJoin  o.symbol = c.symbol          STR
    Join  t.symbol = o.symbol              STR
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  orders [ROWS 100]        STR
    Filter  (c.sector <> 'x')              MONOTONIC
      TableScan  companies                 MONOTONIC
----------
SELECT symbol, p FROM (SELECT symbol, price AS p FROM trades UNION ALL SELECT symbol, bid FROM quotes) WHERE symbol = 'a' AND TRUE
=>
Project  symbol, p                      MONOTONIC
  Filter  ((symbol = 'a') AND True)     MONOTONIC
    Union                               MONOTONIC
      Project  symbol, price AS p       MONOTONIC
        StreamScan  trades [UNBOUNDED]  MONOTONIC
      Project  symbol, bid              MONOTONIC
        StreamScan  quotes [UNBOUNDED]  MONOTONIC
==>
Union                                 MONOTONIC
  Project  symbol, price AS p         MONOTONIC
    Filter  (symbol = 'a')            MONOTONIC
      StreamScan  trades [UNBOUNDED]  MONOTONIC
  Project  symbol, bid                MONOTONIC
    Filter  (symbol = 'a')            MONOTONIC
      StreamScan  quotes [UNBOUNDED]  MONOTONIC
----------
SELECT * FROM averages [RANGE 1 HOUR] a, cheap c WHERE a.symbol = c.symbol AND c.price < a.mean AND a.symbol <> 'b'
=>
Project  a.symbol, a.mean, c.symbol AS symbol_1, c.price                        STR
  Filter  ((a.symbol = c.symbol) AND (c.price < a.mean) AND (a.symbol <> 'b'))  STR
    Product                                                                     STR
      Project  symbol, AVG(price) AS mean                                       WK
        GroupBy  symbol: AVG(price)                                             WK
          StreamScan  trades [RANGE 1 HOUR]                                     WKS
      Project  symbol, price                                                    STR
        Filter  (price < 5.0)                                                   STR
          StreamScan  trades [ROWS 10]                                          STR
==>
Project  a.symbol, a.mean, c.symbol AS symbol_1, c.price  STR
  Join  a.symbol = c.symbol AND (c.price < a.mean)        STR
    Project  symbol, AVG(price) AS mean                   WK
      GroupBy  symbol: AVG(price)                         WK
        Filter  (a.symbol <> 'b')                         WKS
          StreamScan  trades [RANGE 1 HOUR]               WKS
    Project  symbol, price                                STR
      Filter  ((price < 5.0) AND (c.symbol <> 'b'))       STR
        StreamScan  trades [ROWS 10]                      STR
----------
SELECT DISTINCT a.symbol FROM trades a, trades b WHERE a.symbol = b.symbol AND a.qty = b.qty + 1 WINDOW 10 SECONDS
=>
Distinct                                                       WK
  Project  a.symbol                                            WK
    Filter  ((a.symbol = b.symbol) AND (a.qty = (b.qty + 1)))  WK
      Product                                                  WK
        StreamScan  trades [RANGE 10 SECONDS]                  WKS
        StreamScan  trades [RANGE 10 SECONDS]                  WKS
==>
Distinct                                               WK
  Project  a.symbol                                    WK
    Join  a.symbol = b.symbol AND a.qty = (b.qty + 1)  WK
      StreamScan  trades [RANGE 10 SECONDS]            WKS
      StreamScan  trades [RANGE 10 SECONDS]            WKS
----------
-- Query 4 of the update-patterns paper: what DISTINCT keeps is what the join keeps
SELECT DISTINCT a.symbol FROM trades [RANGE 1 MINUTE] a, quotes [RANGE 1 MINUTE] b WHERE a.symbol = b.symbol
=>
Distinct                                     WK
  Project  a.symbol                          WK
    Filter  (a.symbol = b.symbol)            WK
      Product                                WK
        StreamScan  trades [RANGE 1 MINUTE]  WKS
        StreamScan  quotes [RANGE 1 MINUTE]  WKS
==>
Project  a.symbol                            WK
  Join  a.symbol = b.symbol                  WK
    Distinct                                 WK
      Project  symbol                        WKS
        StreamScan  trades [RANGE 1 MINUTE]  WKS
    Distinct                                 WK
      Project  symbol                        WKS
        StreamScan  quotes [RANGE 1 MINUTE]  WKS
----------
-- its Query 5 with NOT EXISTS: negation where it costs least
SELECT a.symbol FROM trades [RANGE 1 MINUTE] a, orders [RANGE 1 MINUTE] c WHERE a.symbol = c.symbol AND c.qty = 21 AND NOT EXISTS (SELECT 1 FROM quotes [RANGE 1 MINUTE] b WHERE b.symbol = a.symbol)
=>
Project  a.symbol                                     STR
  AntiJoin  a.symbol = b.symbol                       STR
    Filter  ((a.symbol = c.symbol) AND (c.qty = 21))  WK
      Product                                         WK
        StreamScan  trades [RANGE 1 MINUTE]           WKS
        StreamScan  orders [RANGE 1 MINUTE]           WKS
    StreamScan  quotes [RANGE 1 MINUTE]               WKS
==>
Project  a.symbol                          STR
  Join  a.symbol = c.symbol                STR
    AntiJoin  a.symbol = b.symbol          STR
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  quotes [RANGE 1 MINUTE]  WKS
    Filter  (c.qty = 21)                   WKS
      StreamScan  orders [RANGE 1 MINUTE]  WKS
----------
-- and with EXCEPT ALL, which counts: the plan as written
SELECT a.symbol FROM (SELECT symbol FROM trades [RANGE 1 MINUTE] EXCEPT ALL SELECT symbol FROM quotes [RANGE 1 MINUTE]) a, orders [RANGE 1 MINUTE] c WHERE a.symbol = c.symbol AND c.qty = 21
=>
Project  a.symbol                                   STR
  Filter  ((a.symbol = c.symbol) AND (c.qty = 21))  STR
    Product                                         STR
      Negation  symbol = symbol                     STR
        Project  symbol                             WKS
          StreamScan  trades [RANGE 1 MINUTE]       WKS
        Project  symbol                             WKS
          StreamScan  quotes [RANGE 1 MINUTE]       WKS
      StreamScan  orders [RANGE 1 MINUTE]           WKS
==>
Project  a.symbol                            STR
  Join  a.symbol = c.symbol                  STR
    Negation  symbol = symbol                STR
      Project  symbol                        WKS
        StreamScan  trades [RANGE 1 MINUTE]  WKS
      Project  symbol                        WKS
        StreamScan  quotes [RANGE 1 MINUTE]  WKS
    Filter  (c.qty = 21)                     WKS
      StreamScan  orders [RANGE 1 MINUTE]    WKS
----------
-- for each row of a table
CREATE QUERY q FOR EACH ROW OF rules AS
SELECT rules.id, q.symbol, n FROM quotes [NOW] q,
  (SELECT symbol, COUNT(*) AS n FROM trades [RANGE 1 MINUTE] GROUP BY symbol) t
WHERE q.symbol = t.symbol AND t.symbol = rules.symbol AND n > rules.least
=>
Project  $rules.id AS id, q.symbol, t.n        WK
  Filter  ((q.symbol = t.symbol) AND (t.symbol = $rules.symbol) AND (t.n > CAST($rules.least AS BIGINT)))  WK
    Product                                    WK
      StreamScan  quotes [NOW]                 WKS
      Project  symbol, COUNT(*) AS n           WK
        GroupBy  symbol: COUNT(*)              WK
          StreamScan  trades [RANGE 1 MINUTE]  WKS
==>
Project  $rules.id AS id, q.symbol, t.n                                          WK
  Filter  ((t.symbol = $rules.symbol) AND (t.n > CAST($rules.least AS BIGINT)))  WK
    Join  q.symbol = t.symbol                                                    WK
      StreamScan  quotes [NOW]                                                   WKS
      Project  symbol, COUNT(*) AS n                                             WK
        GroupBy  symbol: COUNT(*)                                                WK
          StreamScan  trades [RANGE 1 MINUTE]                                    WKS
----------
