-- nothing to move
SELECT t.symbol FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q WHERE t.symbol = q.symbol
=>
Project  t.symbol                        WK
  Join  t.symbol = q.symbol              WK
    StreamScan  trades [RANGE 1 MINUTE]  WKS
    StreamScan  quotes [RANGE 1 MINUTE]  WKS
==>
(unchanged)
----------
-- NOT EXISTS below the join: few rows are left to join, and they rarely come back
SELECT t.price FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q WHERE t.symbol = q.symbol AND NOT EXISTS (SELECT 1 FROM orders [RANGE 1 MINUTE] o WHERE o.symbol = t.symbol)
=>
Project  t.price                           STR
  AntiJoin  t.symbol = o.symbol            STR
    Join  t.symbol = q.symbol              WK
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  quotes [RANGE 1 MINUTE]  WKS
    StreamScan  orders [RANGE 1 MINUTE]    WKS
==>
Project  t.price                           STR
  Join  t.symbol = q.symbol                STR
    AntiJoin  t.symbol = o.symbol          STR
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  orders [RANGE 1 MINUTE]  WKS
    StreamScan  quotes [RANGE 1 MINUTE]    WKS
----------
-- above it: the join has few results, and its inputs many negative tuples
-- known: trades 100/s, quotes 1/s, orders 100/s
SELECT t.price FROM (SELECT * FROM trades [RANGE 1 MINUTE] t WHERE NOT EXISTS (SELECT 1 FROM orders [RANGE 1 SECOND] o WHERE o.symbol = t.symbol)) t, quotes [RANGE 1 SECOND] q WHERE t.symbol = q.symbol
=>
Project  t.price                             STR
  Join  t.symbol = q.symbol                  STR
    Project  ts, symbol, price, qty          STR
      AntiJoin  t.symbol = o.symbol          STR
        StreamScan  trades [RANGE 1 MINUTE]  WKS
        StreamScan  orders [RANGE 1 SECOND]  WKS
    StreamScan  quotes [RANGE 1 SECOND]      WKS
==>
Project  t.price                             STR
  AntiJoin  t.symbol = o.symbol              STR
    Join  t.symbol = q.symbol                WK
      Project  ts, symbol, price, qty        WKS
        StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  quotes [RANGE 1 SECOND]    WKS
    StreamScan  orders [RANGE 1 SECOND]      WKS
----------
-- to the right input, with a residual
SELECT t.price FROM quotes [RANGE 1 MINUTE] q, trades [RANGE 1 MINUTE] t WHERE t.symbol = q.symbol AND NOT EXISTS (SELECT 1 FROM orders [RANGE 1 MINUTE] o WHERE o.symbol = t.symbol AND o.qty > t.qty)
=>
Project  t.price                                                     STR
  AntiJoin  t.symbol = o.symbol AND (CAST(o.qty AS BIGINT) > t.qty)  STR
    Join  q.symbol = t.symbol                                        WK
      StreamScan  quotes [RANGE 1 MINUTE]                            WKS
      StreamScan  trades [RANGE 1 MINUTE]                            WKS
    StreamScan  orders [RANGE 1 MINUTE]                              WKS
==>
Project  t.price                                                       STR
  Join  q.symbol = t.symbol                                            STR
    StreamScan  quotes [RANGE 1 MINUTE]                                WKS
    AntiJoin  t.symbol = o.symbol AND (CAST(o.qty AS BIGINT) > t.qty)  STR
      StreamScan  trades [RANGE 1 MINUTE]                              WKS
      StreamScan  orders [RANGE 1 MINUTE]                              WKS
----------
-- EXISTS as well
-- known: orders.symbol 1 values
SELECT t.price FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q WHERE t.symbol = q.symbol AND EXISTS (SELECT 1 FROM orders [RANGE 1 MINUTE] o WHERE o.symbol = t.symbol)
=>
Project  t.price                           STR
  SemiJoin  t.symbol = o.symbol            STR
    Join  t.symbol = q.symbol              WK
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  quotes [RANGE 1 MINUTE]  WKS
    StreamScan  orders [RANGE 1 MINUTE]    WKS
==>
Project  t.price                           STR
  Join  t.symbol = q.symbol                STR
    SemiJoin  t.symbol = o.symbol          STR
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  orders [RANGE 1 MINUTE]  WKS
    StreamScan  quotes [RANGE 1 MINUTE]    WKS
----------
-- two of them, each at its own place
SELECT t.price FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q WHERE t.symbol = q.symbol AND NOT EXISTS (SELECT 1 FROM orders [RANGE 1 MINUTE] o WHERE o.symbol = t.symbol) AND NOT EXISTS (SELECT 1 FROM orders [RANGE 1 MINUTE] o WHERE o.qty = q.size)
=>
Project  t.price                             STR
  AntiJoin  q.size = o.qty                   STR
    AntiJoin  t.symbol = o.symbol            STR
      Join  t.symbol = q.symbol              WK
        StreamScan  trades [RANGE 1 MINUTE]  WKS
        StreamScan  quotes [RANGE 1 MINUTE]  WKS
      StreamScan  orders [RANGE 1 MINUTE]    WKS
    StreamScan  orders [RANGE 1 MINUTE]      WKS
==>
Project  t.price                           STR
  Join  t.symbol = q.symbol                STR
    AntiJoin  t.symbol = o.symbol          STR
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  orders [RANGE 1 MINUTE]  WKS
    AntiJoin  q.size = o.qty               STR
      StreamScan  quotes [RANGE 1 MINUTE]  WKS
      StreamScan  orders [RANGE 1 MINUTE]  WKS
----------
-- not where it reads both inputs of the join
SELECT t.price FROM trades [RANGE 1 MINUTE] t, quotes [RANGE 1 MINUTE] q WHERE t.symbol = q.symbol AND NOT EXISTS (SELECT 1 FROM orders [RANGE 1 MINUTE] o WHERE o.symbol = t.symbol AND o.qty = q.size)
=>
Project  t.price                                    STR
  AntiJoin  t.symbol = o.symbol AND q.size = o.qty  STR
    Join  t.symbol = q.symbol                       WK
      StreamScan  trades [RANGE 1 MINUTE]           WKS
      StreamScan  quotes [RANGE 1 MINUTE]           WKS
    StreamScan  orders [RANGE 1 MINUTE]             WKS
==>
(unchanged)
----------
-- above DISTINCT, which then takes no negative tuples
SELECT DISTINCT t.symbol FROM trades [RANGE 1 MINUTE] t WHERE NOT EXISTS (SELECT 1 FROM orders [RANGE 1 SECOND] o WHERE o.symbol = t.symbol)
=>
Distinct                                   STR
  Project  symbol                          STR
    AntiJoin  t.symbol = o.symbol          STR
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  orders [RANGE 1 SECOND]  WKS
==>
AntiJoin  t.symbol = o.symbol              STR
  Distinct                                 WK
    Project  symbol                        WKS
      StreamScan  trades [RANGE 1 MINUTE]  WKS
  StreamScan  orders [RANGE 1 SECOND]      WKS
----------
-- not above DISTINCT if it reads columns that DISTINCT does not
SELECT DISTINCT t.symbol FROM trades [RANGE 1 MINUTE] t WHERE NOT EXISTS (SELECT 1 FROM orders [RANGE 1 SECOND] o WHERE o.qty = t.qty)
=>
Distinct                                     STR
  Project  symbol                            STR
    AntiJoin  t.qty = CAST(o.qty AS BIGINT)  STR
      StreamScan  trades [RANGE 1 MINUTE]    WKS
      StreamScan  orders [RANGE 1 SECOND]    WKS
==>
(unchanged)
----------
-- EXCEPT ALL counts rows, and the join multiplies them: it stays below
-- known: trades 100/s, quotes 1/s, orders 100/s
SELECT t.symbol FROM (SELECT symbol FROM trades [RANGE 1 MINUTE] EXCEPT ALL SELECT symbol FROM orders [RANGE 1 SECOND]) t, quotes [RANGE 1 SECOND] q WHERE t.symbol = q.symbol
=>
Project  t.symbol                            STR
  Join  t.symbol = q.symbol                  STR
    Negation  symbol = symbol                STR
      Project  symbol                        WKS
        StreamScan  trades [RANGE 1 MINUTE]  WKS
      Project  symbol                        WKS
        StreamScan  orders [RANGE 1 SECOND]  WKS
    StreamScan  quotes [RANGE 1 SECOND]      WKS
==>
(unchanged)
----------
-- the join only asks whether the symbol is there: above
-- known: trades 100/s, quotes 1/s, orders 100/s
SELECT t.symbol FROM (SELECT symbol FROM trades [RANGE 1 MINUTE] EXCEPT ALL SELECT symbol FROM orders [RANGE 1 SECOND]) t, (SELECT DISTINCT symbol FROM quotes [RANGE 1 SECOND]) q WHERE t.symbol = q.symbol
=>
Project  t.symbol                            STR
  Join  t.symbol = q.symbol                  STR
    Negation  symbol = symbol                STR
      Project  symbol                        WKS
        StreamScan  trades [RANGE 1 MINUTE]  WKS
      Project  symbol                        WKS
        StreamScan  orders [RANGE 1 SECOND]  WKS
    Distinct                                 WK
      Project  symbol                        WKS
        StreamScan  quotes [RANGE 1 SECOND]  WKS
==>
Project  t.symbol                              STR
  Negation  symbol = symbol                    STR
    Join  t.symbol = q.symbol                  WK
      Project  symbol                          WKS
        StreamScan  trades [RANGE 1 MINUTE]    WKS
      Distinct                                 WK
        Project  symbol                        WKS
          StreamScan  quotes [RANGE 1 SECOND]  WKS
    Project  symbol                            WKS
      StreamScan  orders [RANGE 1 SECOND]      WKS
----------
-- not where that other input has a column besides its join keys, so that it may have several rows
-- known: trades 100/s, quotes 1/s, orders 100/s
SELECT t.symbol FROM (SELECT symbol FROM trades [RANGE 1 MINUTE] EXCEPT ALL SELECT symbol FROM orders [RANGE 1 SECOND]) t, (SELECT DISTINCT symbol, bid FROM quotes [RANGE 1 SECOND]) q WHERE t.symbol = q.symbol
=>
Project  t.symbol                            STR
  Join  t.symbol = q.symbol                  STR
    Negation  symbol = symbol                STR
      Project  symbol                        WKS
        StreamScan  trades [RANGE 1 MINUTE]  WKS
      Project  symbol                        WKS
        StreamScan  orders [RANGE 1 SECOND]  WKS
    Distinct                                 WK
      Project  symbol, bid                   WKS
        StreamScan  quotes [RANGE 1 SECOND]  WKS
==>
(unchanged)
----------
-- not with ON: rows of one key differ in other columns, and it matters which of them are shown
-- known: trades 100/s, quotes 1/s, orders 100/s
SELECT t.symbol FROM (SELECT symbol, qty FROM trades [RANGE 1 MINUTE] EXCEPT ALL ON (symbol) SELECT symbol, id FROM orders [RANGE 1 SECOND]) t, (SELECT DISTINCT symbol FROM quotes [RANGE 1 SECOND]) q WHERE t.symbol = q.symbol
=>
Project  t.symbol                            STR
  Join  t.symbol = q.symbol                  STR
    Negation  symbol = symbol                STR
      Project  symbol, qty                   WKS
        StreamScan  trades [RANGE 1 MINUTE]  WKS
      Project  symbol, id                    WKS
        StreamScan  orders [RANGE 1 SECOND]  WKS
    Distinct                                 WK
      Project  symbol                        WKS
        StreamScan  quotes [RANGE 1 SECOND]  WKS
==>
(unchanged)
----------
-- not with floats, whose equal values may differ (0.0 and -0.0)
-- known: trades 100/s, quotes 1/s, orders 100/s, trades.price 9 values
SELECT t.price FROM (SELECT price FROM trades [RANGE 1 MINUTE] EXCEPT ALL SELECT bid FROM quotes [RANGE 1 SECOND]) t, (SELECT DISTINCT bid FROM quotes [RANGE 1 SECOND]) q WHERE t.price = q.bid
=>
Project  t.price                             STR
  Join  t.price = q.bid                      STR
    Negation  price = bid                    STR
      Project  price                         WKS
        StreamScan  trades [RANGE 1 MINUTE]  WKS
      Project  bid                           WKS
        StreamScan  quotes [RANGE 1 SECOND]  WKS
    Distinct                                 WK
      Project  bid (as in line 6)            WKS
==>
(unchanged)
----------
-- never below the join with a retroactive table, whatever it costs
SELECT t.price FROM trades [RANGE 1 MINUTE] t, limits l WHERE t.symbol = l.symbol AND NOT EXISTS (SELECT 1 FROM orders [RANGE 1 MINUTE] o WHERE o.symbol = t.symbol)
=>
Project  t.price                           STR
  AntiJoin  t.symbol = o.symbol            STR
    Join  t.symbol = l.symbol              STR
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      TableScan  limits (retroactive)      STR
    StreamScan  orders [RANGE 1 MINUTE]    WKS
==>
(unchanged)
----------
-- but above it
SELECT t.price FROM (SELECT * FROM trades [RANGE 1 MINUTE] t WHERE NOT EXISTS (SELECT 1 FROM orders [RANGE 1 MINUTE] o WHERE o.symbol = t.symbol)) t, limits l WHERE t.symbol = l.symbol
=>
Project  t.price                             STR
  Join  t.symbol = l.symbol                  STR
    Project  ts, symbol, price, qty          STR
      AntiJoin  t.symbol = o.symbol          STR
        StreamScan  trades [RANGE 1 MINUTE]  WKS
        StreamScan  orders [RANGE 1 MINUTE]  WKS
    TableScan  limits (retroactive)          STR
==>
Project  t.price                             STR
  AntiJoin  t.symbol = o.symbol              STR
    Join  t.symbol = l.symbol                STR
      Project  ts, symbol, price, qty        WKS
        StreamScan  trades [RANGE 1 MINUTE]  WKS
      TableScan  limits (retroactive)        STR
    StreamScan  orders [RANGE 1 MINUTE]      WKS
----------
-- never below the join with a non-retroactive table
SELECT t.price FROM trades [RANGE 1 MINUTE] t, rates r WHERE t.symbol = r.symbol AND NOT EXISTS (SELECT 1 FROM orders [RANGE 1 MINUTE] o WHERE o.symbol = t.symbol)
=>
Project  t.price                           STR
  AntiJoin  t.symbol = o.symbol            STR
    LookupJoin  t.symbol = r.symbol        WKS
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      TableScan  rates (non-retroactive)   MONOTONIC
    StreamScan  orders [RANGE 1 MINUTE]    WKS
==>
(unchanged)
----------
-- below the join with a static table: that is just a join
SELECT t.price FROM trades [RANGE 1 MINUTE] t, companies c WHERE t.symbol = c.symbol AND NOT EXISTS (SELECT 1 FROM orders [RANGE 1 MINUTE] o WHERE o.symbol = t.symbol)
=>
Project  t.price                           STR
  AntiJoin  t.symbol = o.symbol            STR
    LookupJoin  t.symbol = c.symbol        WKS
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      TableScan  companies                 MONOTONIC
    StreamScan  orders [RANGE 1 MINUTE]    WKS
==>
Project  t.price                           STR
  LookupJoin  t.symbol = c.symbol          STR
    AntiJoin  t.symbol = o.symbol          STR
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  orders [RANGE 1 MINUTE]  WKS
    TableScan  companies                   MONOTONIC
----------
-- not where it looks a non-retroactive table up: before the join that would be at another instant
SELECT t.price, r.rate FROM trades [RANGE 1 MINUTE] t JOIN quotes [RANGE 1 MINUTE] q ON t.symbol = q.symbol LEFT JOIN rates r ON r.symbol = t.symbol
=>
Project  t.price, r.rate                          WK
  Union                                           WK
    LookupJoin  t.symbol = r.symbol               WK
      Join  t.symbol = q.symbol                   WK
        StreamScan  trades [RANGE 1 MINUTE]       WKS
        StreamScan  quotes [RANGE 1 MINUTE]       WKS
      TableScan  rates (non-retroactive)          MONOTONIC
    Project  t.ts, t.symbol, t.price, t.qty, q.ts, q.symbol, q.bid, q.size, NULL AS symbol, NULL AS rate  WK
      LookupAntiJoin  t.symbol = r.symbol         WK
        Join  t.symbol = q.symbol (as in line 4)  WK
        TableScan  rates (non-retroactive)        MONOTONIC
==>
(unchanged)
----------
