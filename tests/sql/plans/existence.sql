-- equalities with the outer SELECT are keys; terms on the sub-query alone filter it, others on the outer SELECT alone filter that
SELECT t.price FROM trades [NOW] t WHERE price > 1 AND EXISTS (SELECT * FROM quotes [NOW] q WHERE q.symbol = t.symbol AND q.bid > t.price AND size > 3 AND t.qty = 1)
=>
Project  price                                         STR
  SemiJoin  t.symbol = q.symbol AND (q.bid > t.price)  STR
    Filter  ((price > 1.0) AND (t.qty = 1))            WKS
      StreamScan  trades [NOW]                         WKS
    Filter  (q.size > 3)                               WKS
      StreamScan  quotes [NOW]                         WKS
----------
-- but a row that fails its own term has no match, so it stays
SELECT t.price FROM trades [NOW] t WHERE price > 1 AND NOT EXISTS (SELECT * FROM quotes [NOW] q WHERE q.symbol = t.symbol AND t.qty = 1)
=>
Project  price                                   STR
  AntiJoin  t.symbol = q.symbol AND (t.qty = 1)  STR
    Filter  (price > 1.0)                        WKS
      StreamScan  trades [NOW]                   WKS
    StreamScan  quotes [NOW]                     WKS
----------
-- keys of one type; the trailing window is for all streams
SELECT price FROM trades WHERE NOT (EXISTS (SELECT 1 FROM quotes WHERE quotes.symbol = trades.symbol)) AND (qty IN (SELECT size FROM quotes)) WINDOW 1 SECOND
=>
Project  price                                        STR
  SemiJoin  trades.qty = CAST(quotes.size AS BIGINT)  STR
    AntiJoin  trades.symbol = quotes.symbol           STR
      StreamScan  trades [RANGE 1 SECOND]             WKS
      StreamScan  quotes [RANGE 1 SECOND]             WKS
    StreamScan  quotes [RANGE 1 SECOND]               WKS
----------
-- the sub-query may have a window, WITH, joins and parentheses of its own
SELECT price FROM trades [ROWS 3] t WHERE EXISTS ((WITH large AS (SELECT symbol FROM orders WHERE qty > 5) SELECT DISTINCT 1 FROM quotes q JOIN large USING (symbol) WHERE q.symbol = t.symbol WINDOW 1 SECOND))
=>
Project  price                                   STR
  SemiJoin  t.symbol = q.symbol                  STR
    StreamScan  trades [ROWS 3]                  STR
    Filter  (q.symbol = large.symbol)            WK
      Product                                    WK
        StreamScan  quotes [RANGE 1 SECOND]      WKS
        Project  symbol                          WKS
          Filter  (qty > 5)                      WKS
            StreamScan  orders [RANGE 1 SECOND]  WKS
----------
-- names mean the sub-query's columns first: here nothing comes from outside
SELECT price FROM trades [NOW] WHERE EXISTS (SELECT 1 FROM quotes [NOW] WHERE symbol = 'a' AND bid > 2)
=>
Project  price                                              STR
  SemiJoin  (any row)                                       STR
    StreamScan  trades [NOW]                                WKS
    Filter  ((quotes.symbol = 'a') AND (quotes.bid > 2.0))  WKS
      StreamScan  quotes [NOW]                              WKS
----------
-- a plain name that the sub-query does not have is one of outside
SELECT price FROM trades [NOW] WHERE EXISTS (SELECT 1 FROM quotes [NOW] WHERE bid > price)
=>
Project  price                           STR
  SemiJoin  (quotes.bid > trades.price)  STR
    StreamScan  trades [NOW]             WKS
    StreamScan  quotes [NOW]             WKS
----------
-- any other query stands for itself
SELECT price FROM trades WHERE price IN (SELECT MAX(bid) FROM quotes GROUP BY symbol) AND EXISTS (SELECT symbol FROM quotes UNION ALL SELECT symbol FROM orders) WINDOW 1 SECOND
=>
Project  price                                 STR
  SemiJoin  (any row)                          STR
    SemiJoin  trades.price = MAX(bid)          STR
      StreamScan  trades [RANGE 1 SECOND]      WKS
      Project  MAX(bid)                        WK
        GroupBy  symbol: MAX(bid)              WK
          StreamScan  quotes [RANGE 1 SECOND]  WKS
    Union                                      WKS
      Project  symbol                          WKS
        StreamScan  quotes [RANGE 1 SECOND]    WKS
      Project  symbol                          WKS
        StreamScan  orders [RANGE 1 SECOND]    WKS
----------
-- a constant needle filters the sub-query
SELECT price FROM trades WHERE 5 IN (SELECT size FROM quotes) AND 6 IN (SELECT COUNT(*) FROM orders) WINDOW 1 SECOND
=>
Project  price                                 STR
  SemiJoin  (any row)                          STR
    SemiJoin  (any row)                        STR
      StreamScan  trades [RANGE 1 SECOND]      WKS
      Filter  (5 = quotes.size)                WKS
        StreamScan  quotes [RANGE 1 SECOND]    WKS
    Filter  (6 = COUNT(*))                     WK
      Project  COUNT(*)                        WK
        GroupBy  (): COUNT(*)                  WK
          StreamScan  orders [RANGE 1 SECOND]  WKS
----------
-- one inside the other
SELECT price FROM trades t WHERE EXISTS (SELECT 1 FROM quotes q WHERE q.symbol = t.symbol AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.symbol = q.symbol)) WINDOW 1 SECOND
=>
Project  price                             STR
  SemiJoin  t.symbol = q.symbol            STR
    StreamScan  trades [RANGE 1 SECOND]    WKS
    AntiJoin  q.symbol = o.symbol          STR
      StreamScan  quotes [RANGE 1 SECOND]  WKS
      StreamScan  orders [RANGE 1 SECOND]  WKS
----------
-- below GROUP BY, and above the join in FROM
SELECT t.symbol, COUNT(*) FROM trades t, quotes q WHERE t.symbol = q.symbol AND EXISTS (SELECT 1 FROM companies c WHERE c.symbol = t.symbol) GROUP BY t.symbol WINDOW 1 SECOND
=>
Project  symbol, COUNT(*)                      WK
  GroupBy  t.symbol: COUNT(*)                  WK
    LookupSemiJoin  t.symbol = c.symbol        WK
      Filter  (t.symbol = q.symbol)            WK
        Product                                WK
          StreamScan  trades [RANGE 1 SECOND]  WKS
          StreamScan  quotes [RANGE 1 SECOND]  WKS
      TableScan  companies                     MONOTONIC
----------
-- a static table needs no windows
SELECT price FROM trades WHERE symbol IN (SELECT symbol FROM companies)
=>
Project  price                                      MONOTONIC
  LookupSemiJoin  trades.symbol = companies.symbol  MONOTONIC
    StreamScan  trades [UNBOUNDED]                  MONOTONIC
    TableScan  companies                            MONOTONIC
----------
