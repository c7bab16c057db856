SELECT t.price FROM trades [NOW] t, quotes [NOW] q WHERE t.symbol = q.symbol AND t.price > q.bid
=>
Project  t.price                                         WK
  Filter  ((t.symbol = q.symbol) AND (t.price > q.bid))  WK
    Product                                              WK
      StreamScan  trades [NOW]                           WKS
      StreamScan  quotes [NOW]                           WKS
==>
Project  t.price                                   WK
  Join  t.symbol = q.symbol AND (t.price > q.bid)  WK
    StreamScan  trades [NOW]                       WKS
    StreamScan  quotes [NOW]                       WKS
----------
-- several keys; any expressions
SELECT t.price FROM trades [NOW] t, quotes [NOW] q WHERE t.symbol = q.symbol AND q.size = t.qty + 1
=>
Project  t.price                                                              WK
  Filter  ((t.symbol = q.symbol) AND (CAST(q.size AS BIGINT) = (t.qty + 1)))  WK
    Product                                                                   WK
      StreamScan  trades [NOW]                                                WKS
      StreamScan  quotes [NOW]                                                WKS
==>
Project  t.price                                                      WK
  Join  t.symbol = q.symbol AND (t.qty + 1) = CAST(q.size AS BIGINT)  WK
    StreamScan  trades [NOW]                                          WKS
    StreamScan  quotes [NOW]                                          WKS
----------
-- an equality over both inputs on one side is no key
SELECT t.price FROM trades [NOW] t, quotes [NOW] q WHERE t.price + q.bid = 3 AND t.price = 1
=>
Project  t.price                                           WK
  Filter  (((t.price + q.bid) = 3.0) AND (t.price = 1.0))  WK
    Product                                                WK
      StreamScan  trades [NOW]                             WKS
      StreamScan  quotes [NOW]                             WKS
==>
Project  t.price                   WK
  Join  ((t.price + q.bid) = 3.0)  WK
    Filter  (t.price = 1.0)        WKS
      StreamScan  trades [NOW]     WKS
    StreamScan  quotes [NOW]       WKS
----------
-- in the order written
SELECT t.price FROM trades [NOW] t, quotes [NOW] q, orders [NOW] o WHERE t.symbol = q.symbol AND q.symbol = o.symbol
=>
Project  t.price                                             WK
  Filter  ((t.symbol = q.symbol) AND (q.symbol = o.symbol))  WK
    Product                                                  WK
      StreamScan  trades [NOW]                               WKS
      StreamScan  quotes [NOW]                               WKS
      StreamScan  orders [NOW]                               WKS
==>
Project  t.price                WK
  Join  q.symbol = o.symbol     WK
    Join  t.symbol = q.symbol   WK
      StreamScan  trades [NOW]  WKS
      StreamScan  quotes [NOW]  WKS
    StreamScan  orders [NOW]    WKS
----------
-- but what is connected first: orders before quotes; the columns keep their places
SELECT * FROM trades [NOW] t, quotes [NOW] q, orders [NOW] o WHERE t.symbol = o.symbol AND q.size = o.qty
=>
Project  t.ts, t.symbol, t.price, t.qty, q.ts AS ts_1, q.symbol AS symbol_1, q.bid, q.size, o.ts AS ts_2, o.id, o.symbol AS symbol_2, o.qty AS qty_1  WK
  Filter  ((t.symbol = o.symbol) AND (q.size = o.qty))  WK
    Product                                             WK
      StreamScan  trades [NOW]                          WKS
      StreamScan  quotes [NOW]                          WKS
      StreamScan  orders [NOW]                          WKS
==>
Project  t.ts, t.symbol, t.price, t.qty, q.ts AS ts_1, q.symbol AS symbol_1, q.bid, q.size, o.ts AS ts_2, o.id, o.symbol AS symbol_2, o.qty AS qty_1  WK
  Project  ts, symbol, price, qty, ts, symbol, bid, size, ts, id, symbol, qty  WK
    Join  o.qty = q.size                                                       WK
      Join  t.symbol = o.symbol                                                WK
        StreamScan  trades [NOW]                                               WKS
        StreamScan  orders [NOW]                                               WKS
      StreamScan  quotes [NOW]                                                 WKS
----------
-- a table joins when it is connected
SELECT t.price FROM companies c, trades [NOW] t, quotes [NOW] q WHERE t.symbol = c.symbol AND q.symbol = t.symbol
=>
Project  t.price                                             WK
  Filter  ((t.symbol = c.symbol) AND (q.symbol = t.symbol))  WK
    Product                                                  WK
      TableScan  companies                                   MONOTONIC
      StreamScan  trades [NOW]                               WKS
      StreamScan  quotes [NOW]                               WKS
==>
Project  t.price                                                          WK
  Project  symbol, sector, ts, symbol, price, qty, ts, symbol, bid, size  WK
    Join  t.symbol = q.symbol                                             WK
      LookupJoin  t.symbol = c.symbol                                     WKS
        StreamScan  trades [NOW]                                          WKS
        TableScan  companies                                              MONOTONIC
      StreamScan  quotes [NOW]                                            WKS
----------
-- or last; a stream comes first even in a cross product
SELECT t.price FROM companies c, trades [NOW] t, quotes [NOW] q WHERE q.bid > t.price
=>
Project  t.price                WK
  Filter  (q.bid > t.price)     WK
    Product                     WK
      TableScan  companies      MONOTONIC
      StreamScan  trades [NOW]  WKS
      StreamScan  quotes [NOW]  WKS
==>
Project  t.price                                                          WK
  Project  symbol, sector, ts, symbol, price, qty, ts, symbol, bid, size  WK
    LookupJoin  (every pair)                                              WK
      Join  (q.bid > t.price)                                             WK
        StreamScan  trades [NOW]                                          WKS
        StreamScan  quotes [NOW]                                          WKS
      TableScan  companies                                                MONOTONIC
----------
-- tables connected through a table
SELECT s.country FROM sectors s, companies c, trades t WHERE t.symbol = c.symbol AND c.sector = s.sector
=>
Project  s.country                                           MONOTONIC
  Filter  ((t.symbol = c.symbol) AND (c.sector = s.sector))  MONOTONIC
    Product                                                  MONOTONIC
      TableScan  sectors                                     MONOTONIC
      TableScan  companies                                   MONOTONIC
      StreamScan  trades [UNBOUNDED]                         MONOTONIC
==>
Project  s.country                                                  MONOTONIC
  Project  sector, country, symbol, sector, ts, symbol, price, qty  MONOTONIC
    LookupJoin  c.sector = s.sector                                 MONOTONIC
      LookupJoin  t.symbol = c.symbol                               MONOTONIC
        StreamScan  trades [UNBOUNDED]                              MONOTONIC
        TableScan  companies                                        MONOTONIC
      TableScan  sectors                                            MONOTONIC
----------
-- three-sided terms wait for all three; constants stay above
SELECT t.price FROM trades [NOW] t, quotes [NOW] q, orders [NOW] o WHERE t.price + q.bid > o.qty AND 1 = 2
=>
Project  t.price                                                     WK
  Filter  (((t.price + q.bid) > CAST(o.qty AS DOUBLE)) AND (1 = 2))  WK
    Product                                                          WK
      StreamScan  trades [NOW]                                       WKS
      StreamScan  quotes [NOW]                                       WKS
      StreamScan  orders [NOW]                                       WKS
==>
Project  t.price                                       WK
  Filter  (1 = 2)                                      WK
    Join  ((t.price + q.bid) > CAST(o.qty AS DOUBLE))  WK
      Join  (every pair)                               WK
        StreamScan  trades [NOW]                       WKS
        StreamScan  quotes [NOW]                       WKS
      StreamScan  orders [NOW]                         WKS
----------
-- nested products
SELECT x.price FROM (SELECT t.price, t.symbol FROM trades [NOW] t, quotes [NOW] q WHERE t.symbol = q.symbol) x JOIN orders [NOW] o ON x.symbol = o.symbol
=>
Project  x.price                       WK
  Filter  (x.symbol = o.symbol)        WK
    Product                            WK
      Project  t.price, t.symbol       WK
        Filter  (t.symbol = q.symbol)  WK
          Product                      WK
            StreamScan  trades [NOW]   WKS
            StreamScan  quotes [NOW]   WKS
      StreamScan  orders [NOW]         WKS
==>
Project  x.price                  WK
  Join  x.symbol = o.symbol       WK
    Project  t.price, t.symbol    WK
      Join  t.symbol = q.symbol   WK
        StreamScan  trades [NOW]  WKS
        StreamScan  quotes [NOW]  WKS
    StreamScan  orders [NOW]      WKS
----------
-- nothing to join
SELECT price FROM trades WHERE price = qty
=>
Project  price                           MONOTONIC
  Filter  (price = CAST(qty AS DOUBLE))  MONOTONIC
    StreamScan  trades [UNBOUNDED]       MONOTONIC
==>
(unchanged)
----------
-- non-retroactive tables behind all else, although the first is tied at once
SELECT t.price FROM rates r, trades [NOW] t, rates s, quotes [NOW] q, companies c WHERE t.symbol = r.symbol AND s.symbol = r.symbol AND s.rate > 3 AND c.symbol = q.symbol
=>
Project  t.price                          WK
  Filter  ((t.symbol = r.symbol) AND (s.symbol = r.symbol) AND (s.rate > 3.0) AND (c.symbol = q.symbol))  WK
    Product                               WK
      TableScan  rates (non-retroactive)  MONOTONIC
      StreamScan  trades [NOW]            WKS
      TableScan  rates (non-retroactive)  MONOTONIC
      StreamScan  quotes [NOW]            WKS
      TableScan  companies                MONOTONIC
==>
Project  t.price                            WK
  Project  symbol, rate, ts, symbol, price, qty, symbol, rate, ts, symbol, bid, size, symbol, sector  WK
    LookupJoin  r.symbol = s.symbol         WK
      LookupJoin  t.symbol = r.symbol       WK
        LookupJoin  q.symbol = c.symbol     WK
          Join  (every pair)                WK
            StreamScan  trades [NOW]        WKS
            StreamScan  quotes [NOW]        WKS
          TableScan  companies              MONOTONIC
        TableScan  rates (non-retroactive)  MONOTONIC
      Filter  (s.rate > 3.0)                MONOTONIC
        TableScan  rates (non-retroactive)  MONOTONIC
----------
-- what is tied to the same column of one is tied
SELECT t.price FROM trades [NOW] t, rates r, quotes [NOW] q WHERE t.symbol = r.symbol AND q.symbol = r.symbol
=>
Project  t.price                                             WK
  Filter  ((t.symbol = r.symbol) AND (q.symbol = r.symbol))  WK
    Product                                                  WK
      StreamScan  trades [NOW]                               WKS
      TableScan  rates (non-retroactive)                     MONOTONIC
      StreamScan  quotes [NOW]                               WKS
==>
Project  t.price                                                        WK
  Project  ts, symbol, price, qty, symbol, rate, ts, symbol, bid, size  WK
    LookupJoin  t.symbol = r.symbol AND q.symbol = r.symbol             WK
      Join  t.symbol = q.symbol                                         WK
        StreamScan  trades [NOW]                                        WKS
        StreamScan  quotes [NOW]                                        WKS
      TableScan  rates (non-retroactive)                                MONOTONIC
----------
-- a retroactive one like any other table
SELECT t.price FROM limits l, trades [NOW] t, quotes [NOW] q WHERE t.symbol = l.symbol AND q.symbol = l.symbol
=>
Project  t.price                                             STR
  Filter  ((t.symbol = l.symbol) AND (q.symbol = l.symbol))  STR
    Product                                                  STR
      TableScan  limits (retroactive)                        STR
      StreamScan  trades [NOW]                               WKS
      StreamScan  quotes [NOW]                               WKS
==>
Project  t.price                                                        STR
  Project  symbol, most, ts, symbol, price, qty, ts, symbol, bid, size  STR
    Join  l.symbol = q.symbol                                           STR
      Join  t.symbol = l.symbol                                         STR
        StreamScan  trades [NOW]                                        WKS
        TableScan  limits (retroactive)                                 STR
      StreamScan  quotes [NOW]                                          WKS
----------
-- an equality with a parameter ties no parts
CREATE QUERY q FOR EACH ROW OF rules AS
SELECT t.price FROM trades t, orders o, quotes q
WHERE t.symbol = q.symbol AND o.id = rules.id AND t.qty = o.qty + rules.least WINDOW 1 MINUTE
=>
Project  t.price                           WK
  Filter  ((t.symbol = q.symbol) AND (o.id = $rules.id) AND (t.qty = CAST((o.qty + $rules.least) AS BIGINT)))  WK
    Product                                WK
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  orders [RANGE 1 MINUTE]  WKS
      StreamScan  quotes [RANGE 1 MINUTE]  WKS
==>
Project  t.price                                          WK
  Join  t.symbol = q.symbol                               WK
    Join  t.qty = CAST((o.qty + $rules.least) AS BIGINT)  WK
      StreamScan  trades [RANGE 1 MINUTE]                 WKS
      Filter  (o.id = $rules.id)                          WKS
        StreamScan  orders [RANGE 1 MINUTE]               WKS
    StreamScan  quotes [RANGE 1 MINUTE]                   WKS
----------
-- what makes few rows first, if all rates are known
-- known: trades 1000/s, quotes 1000/s, orders 1/s
SELECT t.price FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q, orders [RANGE 1 MINUTE] o
WHERE t.symbol = q.symbol AND q.symbol = o.symbol
=>
Project  t.price                                             WK
  Filter  ((t.symbol = q.symbol) AND (q.symbol = o.symbol))  WK
    Product                                                  WK
      StreamScan  trades [RANGE 1 MINUTE]                    WKS
      StreamScan  quotes [RANGE 1 MINUTE]                    WKS
      StreamScan  orders [RANGE 1 MINUTE]                    WKS
==>
Project  t.price                           WK
  Join  t.symbol = q.symbol                WK
    StreamScan  trades [RANGE 1 MINUTE]    WKS
    Join  q.symbol = o.symbol              WK
      StreamScan  quotes [RANGE 1 MINUTE]  WKS
      StreamScan  orders [RANGE 1 MINUTE]  WKS
----------
-- not if one is not
-- known: trades 1000/s, orders 1/s
SELECT t.price FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q, orders [RANGE 1 MINUTE] o
WHERE t.symbol = q.symbol AND q.symbol = o.symbol
=>
Project  t.price                                             WK
  Filter  ((t.symbol = q.symbol) AND (q.symbol = o.symbol))  WK
    Product                                                  WK
      StreamScan  trades [RANGE 1 MINUTE]                    WKS
      StreamScan  quotes [RANGE 1 MINUTE]                    WKS
      StreamScan  orders [RANGE 1 MINUTE]                    WKS
==>
Project  t.price                           WK
  Join  q.symbol = o.symbol                WK
    Join  t.symbol = q.symbol              WK
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  quotes [RANGE 1 MINUTE]  WKS
    StreamScan  orders [RANGE 1 MINUTE]    WKS
----------
-- bushy: two joins that make few rows before one that makes many
-- known: trades 100/s, quotes 100/s, orders 100/s, trades.qty 10 values, quotes.size 10 values, trades.symbol 100000 values, orders.id 100000 values
SELECT t.price FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q, trades [RANGE 1 MINUTE] u, quotes [RANGE 1 MINUTE] v
WHERE t.symbol = q.symbol AND q.size = u.qty AND u.symbol = v.symbol
=>
Project  t.price                                                                                  WK
  Filter  ((t.symbol = q.symbol) AND (CAST(q.size AS BIGINT) = u.qty) AND (u.symbol = v.symbol))  WK
    Product                                                                                       WK
      StreamScan  trades [RANGE 1 MINUTE]                                                         WKS
      StreamScan  quotes [RANGE 1 MINUTE]                                                         WKS
      StreamScan  trades [RANGE 1 MINUTE]                                                         WKS
      StreamScan  quotes [RANGE 1 MINUTE]                                                         WKS
==>
Project  t.price                              WK
  Join  CAST(q.size AS BIGINT) = u.qty        WK
    Join  t.symbol = q.symbol                 WK
      StreamScan  trades [RANGE 1 MINUTE]     WKS
      StreamScan  quotes [RANGE 1 MINUTE]     WKS
    Join  u.symbol = v.symbol (as in line 3)  WK
----------
-- a small table first, of those tied to it; never joined with another table alone
-- known: trades 100/s, quotes 100/s, companies 10 rows, sectors 2 rows
SELECT t.price FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q, companies c, sectors s
WHERE t.symbol = q.symbol AND q.symbol = c.symbol AND c.sector = s.sector
=>
Project  t.price                                                                       WK
  Filter  ((t.symbol = q.symbol) AND (q.symbol = c.symbol) AND (c.sector = s.sector))  WK
    Product                                                                            WK
      StreamScan  trades [RANGE 1 MINUTE]                                              WKS
      StreamScan  quotes [RANGE 1 MINUTE]                                              WKS
      TableScan  companies                                                             MONOTONIC
      TableScan  sectors                                                               MONOTONIC
==>
Project  t.price                             WK
  Join  t.symbol = q.symbol                  WK
    StreamScan  trades [RANGE 1 MINUTE]      WKS
    LookupJoin  c.sector = s.sector          WKS
      LookupJoin  q.symbol = c.symbol        WKS
        StreamScan  quotes [RANGE 1 MINUTE]  WKS
        TableScan  companies                 MONOTONIC
      TableScan  sectors                     MONOTONIC
----------
-- non-retroactive tables last, whatever they cost
-- known: trades 1000/s, quotes 1000/s, orders 1/s, rates 1 rows
SELECT t.price FROM rates r, trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q, orders [RANGE 1 MINUTE] o
WHERE t.symbol = q.symbol AND q.symbol = o.symbol AND r.symbol = t.symbol
=>
Project  t.price                                                                       WK
  Filter  ((t.symbol = q.symbol) AND (q.symbol = o.symbol) AND (r.symbol = t.symbol))  WK
    Product                                                                            WK
      TableScan  rates (non-retroactive)                                               MONOTONIC
      StreamScan  trades [RANGE 1 MINUTE]                                              WKS
      StreamScan  quotes [RANGE 1 MINUTE]                                              WKS
      StreamScan  orders [RANGE 1 MINUTE]                                              WKS
==>
Project  t.price                                                                             WK
  Project  symbol, rate, ts, symbol, price, qty, ts, symbol, bid, size, ts, id, symbol, qty  WK
    LookupJoin  t.symbol = r.symbol                                                          WK
      Join  t.symbol = q.symbol                                                              WK
        StreamScan  trades [RANGE 1 MINUTE]                                                  WKS
        Join  q.symbol = o.symbol                                                            WK
          StreamScan  quotes [RANGE 1 MINUTE]                                                WKS
          StreamScan  orders [RANGE 1 MINUTE]                                                WKS
      TableScan  rates (non-retroactive)                                                     MONOTONIC
----------
-- in the order written, where it costs as much as any other
-- known: trades 100/s, quotes 100/s, orders 100/s
SELECT t.price FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q, orders [RANGE 1 MINUTE] o
WHERE t.symbol = q.symbol AND q.symbol = o.symbol
=>
Project  t.price                                             WK
  Filter  ((t.symbol = q.symbol) AND (q.symbol = o.symbol))  WK
    Product                                                  WK
      StreamScan  trades [RANGE 1 MINUTE]                    WKS
      StreamScan  quotes [RANGE 1 MINUTE]                    WKS
      StreamScan  orders [RANGE 1 MINUTE]                    WKS
==>
Project  t.price                           WK
  Join  q.symbol = o.symbol                WK
    Join  t.symbol = q.symbol              WK
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  quotes [RANGE 1 MINUTE]  WKS
    StreamScan  orders [RANGE 1 MINUTE]    WKS
----------
-- joins in parentheses stay together
SELECT t.price FROM (trades [NOW] t CROSS JOIN quotes [NOW] q) JOIN (orders [NOW] o JOIN companies c USING (symbol)) ON o.symbol = q.symbol WHERE t.symbol = q.symbol
=>
Project  t.price                                             WK
  Filter  ((o.symbol = q.symbol) AND (t.symbol = q.symbol))  WK
    Product                                                  WK
      Product                                                WK
        StreamScan  trades [NOW]                             WKS
        StreamScan  quotes [NOW]                             WKS
      Filter  (o.symbol = c.symbol)                          WKS
        Product                                              WKS
          StreamScan  orders [NOW]                           WKS
          TableScan  companies                               MONOTONIC
==>
Project  t.price                     WK
  Join  q.symbol = o.symbol          WK
    Filter  (t.symbol = q.symbol)    WK
      Join  (every pair)             WK
        StreamScan  trades [NOW]     WKS
        StreamScan  quotes [NOW]     WKS
    LookupJoin  o.symbol = c.symbol  WKS
      StreamScan  orders [NOW]       WKS
      TableScan  companies           MONOTONIC
----------
