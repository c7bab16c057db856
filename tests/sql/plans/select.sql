SELECT * FROM trades
=>
Project  ts, symbol, price, qty   MONOTONIC
  StreamScan  trades [UNBOUNDED]  MONOTONIC
----------
SELECT t.*, price + 1 AS more FROM trades [ROWS 3] AS t WHERE qty > 1
=>
Project  ts, symbol, price, qty, (price + 1.0) AS more  STR
  Filter  (qty > 1)                                     STR
    StreamScan  trades [ROWS 3]                         STR
----------
SELECT t.symbol, t.price, q.bid FROM trades [RANGE 5 MINUTES] AS t, quotes [RANGE 30 SECONDS] AS q WHERE t.symbol = q.symbol AND t.price > 1.1 * q.bid
=>
Project  t.symbol, t.price, q.bid                                WK
  Filter  ((t.symbol = q.symbol) AND (t.price > (1.1 * q.bid)))  WK
    Product                                                      WK
      StreamScan  trades [RANGE 5 MINUTES]                       WKS
      StreamScan  quotes [RANGE 30 SECONDS]                      WKS
----------
-- ON and WHERE end in one Filter
SELECT t.price FROM trades t JOIN quotes q ON t.symbol = q.symbol INNER JOIN orders o ON o.symbol = q.symbol WHERE o.qty > 3 WINDOW 1 MINUTE
=>
Project  t.price                                                             WK
  Filter  ((t.symbol = q.symbol) AND (o.symbol = q.symbol) AND (o.qty > 3))  WK
    Product                                                                  WK
      StreamScan  trades [RANGE 1 MINUTE]                                    WKS
      StreamScan  quotes [RANGE 1 MINUTE]                                    WKS
      StreamScan  orders [RANGE 1 MINUTE]                                    WKS
----------
-- USING merges columns: * has symbol once, and its plain name is not ambiguous
SELECT symbol, * FROM trades JOIN companies USING (symbol) JOIN sectors USING (sector)
=>
Project  trades.symbol, trades.ts, trades.symbol AS symbol_1, trades.price, trades.qty, companies.sector, sectors.country  MONOTONIC
  Filter  ((trades.symbol = companies.symbol) AND (companies.sector = sectors.sector))  MONOTONIC
    Product                                                                             MONOTONIC
      StreamScan  trades [UNBOUNDED]                                                    MONOTONIC
      TableScan  companies                                                              MONOTONIC
      TableScan  sectors                                                                MONOTONIC
----------
-- every pair
SELECT a.price FROM trades [NOW] a CROSS JOIN trades [NOW] b
=>
Project  a.price              WK
  Product                     WK
    StreamScan  trades [NOW]  WKS
    StreamScan  trades [NOW]  WKS
----------
-- the alias hides the name, columns get new names
SELECT a, d FROM trades AS t (a, b, c, d) WHERE t.d > 1
=>
Project  a, d                       MONOTONIC
  Filter  (d > 1)                   MONOTONIC
    StreamScan  trades [UNBOUNDED]  MONOTONIC
----------
WITH big AS (SELECT * FROM trades WHERE qty > 100), few (s, p) AS (SELECT symbol, price FROM big) SELECT p FROM few
=>
Project  p                                MONOTONIC
  Project  symbol AS s, price AS p        MONOTONIC
    Project  symbol, price                MONOTONIC
      Project  ts, symbol, price, qty     MONOTONIC
        Filter  (qty > 100)               MONOTONIC
          StreamScan  trades [UNBOUNDED]  MONOTONIC
----------
SELECT s.total FROM (SELECT symbol, SUM(qty) AS total FROM trades [NOW] GROUP BY symbol) AS s WHERE s.total > 1
=>
Project  total                          WK
  Filter  (total > 1)                   WK
    Project  symbol, SUM(qty) AS total  WK
      GroupBy  symbol: SUM(qty)         WK
        StreamScan  trades [NOW]        WKS
----------
SELECT mean FROM averages [RANGE 1 HOUR] WHERE symbol = 'a'
=>
Project  mean                              WK
  Filter  (symbol = 'a')                   WK
    Project  symbol, AVG(price) AS mean    WK
      GroupBy  symbol: AVG(price)          WK
        StreamScan  trades [RANGE 1 HOUR]  WKS
----------
SELECT DISTINCT symbol, price FROM trades [ROWS 10]
=>
Distinct                          STR
  Project  symbol, price          STR
    StreamScan  trades [ROWS 10]  STR
----------
SELECT price FROM trades UNION ALL SELECT qty FROM trades UNION ALL SELECT size FROM quotes
=>
Union                                    MONOTONIC
  Project  price                         MONOTONIC
    StreamScan  trades [UNBOUNDED]       MONOTONIC
  Project  CAST(qty AS DOUBLE) AS qty    MONOTONIC
    Project  qty                         MONOTONIC
      StreamScan  trades [UNBOUNDED]     MONOTONIC
  Project  CAST(size AS DOUBLE) AS size  MONOTONIC
    Project  size                        MONOTONIC
      StreamScan  quotes [UNBOUNDED]     MONOTONIC
----------
SELECT symbol FROM trades [NOW] UNION SELECT symbol FROM quotes [NOW]
=>
Distinct                        WK
  Union                         WKS
    Project  symbol             WKS
      StreamScan  trades [NOW]  WKS
    Project  symbol             WKS
      StreamScan  quotes [NOW]  WKS
----------
(SELECT symbol FROM trades [NOW]) UNION ALL (SELECT symbol FROM quotes UNION ALL SELECT symbol FROM orders)
=>
Union                                 WK
  Project  symbol                     WKS
    StreamScan  trades [NOW]          WKS
  Union                               MONOTONIC
    Project  symbol                   MONOTONIC
      StreamScan  quotes [UNBOUNDED]  MONOTONIC
    Project  symbol                   MONOTONIC
      StreamScan  orders [UNBOUNDED]  MONOTONIC
----------
