-- a part of the union is a join
SELECT u.symbol, q.bid FROM (
  SELECT t.symbol, o.qty FROM trades [NOW] AS t, orders [RANGE 5 SECONDS] AS o
  WHERE t.symbol = o.symbol UNION ALL SELECT symbol, size FROM quotes [NOW]
) AS u, quotes [RANGE 5 SECONDS] AS q WHERE u.symbol = q.symbol
=>
Project  u.symbol, q.bid                        WK
  Join  u.symbol = q.symbol                     WK
    Union                                       WK
      Project  t.symbol, o.qty                  WK
        Join  t.symbol = o.symbol               WK
          StreamScan  trades [NOW]              WKS
          StreamScan  orders [RANGE 5 SECONDS]  WKS
      Project  symbol, size                     WKS
        StreamScan  quotes [NOW]                WKS
    StreamScan  quotes [RANGE 5 SECONDS]        WKS
==>
Union                                           WK
  Project  u.symbol, q.bid                      WK
    Join  u.symbol = q.symbol                   WK
      Project  t.symbol, o.qty                  WK
        Join  t.symbol = o.symbol               WK
          StreamScan  trades [NOW]              WKS
          StreamScan  orders [RANGE 5 SECONDS]  WKS
      StreamScan  quotes [RANGE 5 SECONDS]      WKS
  Project  u.symbol, q.bid                      WK
    Join  u.symbol = q.symbol                   WK
      Project  symbol, size                     WKS
        StreamScan  quotes [NOW]                WKS
      StreamScan  quotes [RANGE 5 SECONDS]      WKS
----------
-- what is above the union is above each part
SELECT q.bid, u.s FROM quotes [RANGE 5 SECONDS] AS q, (
  SELECT symbol, upper(symbol) AS s, qty FROM (
    SELECT symbol, qty FROM orders [NOW] UNION ALL
    SELECT t.symbol, o.qty FROM trades [NOW] AS t, orders [RANGE 5 SECONDS] AS o
    WHERE t.symbol = o.symbol
  ) AS v
) AS u WHERE u.symbol = q.symbol AND u.qty + q.size > 3
=>
Project  q.bid, u.s                                     WK
  Join  q.symbol = u.symbol AND ((u.qty + q.size) > 3)  WK
    StreamScan  quotes [RANGE 5 SECONDS]                WKS
    Project  symbol, upper(symbol) AS s, qty            WK
      Union                                             WK
        Project  symbol, qty                            WKS
          StreamScan  orders [NOW]                      WKS
        Project  t.symbol, o.qty                        WK
          Join  t.symbol = o.symbol                     WK
            StreamScan  trades [NOW]                    WKS
            StreamScan  orders [RANGE 5 SECONDS]        WKS
==>
Union                                                     WK
  Project  q.bid, u.s                                     WK
    Join  q.symbol = u.symbol AND ((u.qty + q.size) > 3)  WK
      StreamScan  quotes [RANGE 5 SECONDS]                WKS
      Project  symbol, upper(symbol) AS s, qty            WKS
        Project  symbol, qty                              WKS
          StreamScan  orders [NOW]                        WKS
  Project  q.bid, u.s                                     WK
    Join  q.symbol = u.symbol AND ((u.qty + q.size) > 3)  WK
      StreamScan  quotes [RANGE 5 SECONDS]                WKS
      Project  symbol, upper(symbol) AS s, qty            WK
        Project  t.symbol, o.qty                          WK
          Join  t.symbol = o.symbol                       WK
            StreamScan  trades [NOW]                      WKS
            StreamScan  orders [RANGE 5 SECONDS]          WKS
----------
-- no part is a join
SELECT u.symbol, q.bid FROM (
  SELECT symbol FROM trades [NOW] UNION ALL SELECT symbol FROM orders [NOW]
) AS u, quotes [RANGE 5 SECONDS] AS q WHERE u.symbol = q.symbol
=>
Project  u.symbol, q.bid                  WK
  Join  u.symbol = q.symbol               WK
    Union                                 WKS
      Project  symbol                     WKS
        StreamScan  trades [NOW]          WKS
      Project  symbol                     WKS
        StreamScan  orders [NOW]          WKS
    StreamScan  quotes [RANGE 5 SECONDS]  WKS
==>
(unchanged)
----------
-- rows are taken back
SELECT u.symbol, q.bid FROM (
  SELECT t.symbol, o.qty FROM trades [NOW] AS t, orders [RANGE 5 SECONDS] AS o
  WHERE t.symbol = o.symbol UNION ALL SELECT symbol, size FROM quotes [NOW]
) AS u, quotes [ROWS 5] AS q WHERE u.symbol = q.symbol
=>
Project  u.symbol, q.bid                        STR
  Join  u.symbol = q.symbol                     STR
    Union                                       WK
      Project  t.symbol, o.qty                  WK
        Join  t.symbol = o.symbol               WK
          StreamScan  trades [NOW]              WKS
          StreamScan  orders [RANGE 5 SECONDS]  WKS
      Project  symbol, size                     WKS
        StreamScan  quotes [NOW]                WKS
    StreamScan  quotes [ROWS 5]                 STR
==>
(unchanged)
----------
