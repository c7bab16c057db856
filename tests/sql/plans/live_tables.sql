-- changes of a retroactive table change past results
SELECT t.price FROM trades [NOW] t, limits l WHERE t.symbol = l.symbol AND t.qty > l.most
=>
Project  t.price                                        STR
  Filter  ((t.symbol = l.symbol) AND (t.qty > l.most))  STR
    Product                                             STR
      StreamScan  trades [NOW]                          WKS
      TableScan  limits (retroactive)                   STR
----------
SELECT * FROM limits
=>
Project  symbol, most              STR
  TableScan  limits (retroactive)  STR
----------
SELECT price FROM trades [NOW] t WHERE NOT EXISTS (SELECT 1 FROM limits l WHERE t.symbol = l.symbol)
=>
Project  price                       STR
  AntiJoin  t.symbol = l.symbol      STR
    StreamScan  trades [NOW]         WKS
    TableScan  limits (retroactive)  STR
----------
-- those of a non-retroactive one do not, so that results need no window
SELECT price * rate FROM trades, rates WHERE trades.symbol = rates.symbol
=>
Project  (trades.price * rates.rate) AS price * rate  MONOTONIC
  Filter  (trades.symbol = rates.symbol)              MONOTONIC
    Product                                           MONOTONIC
      StreamScan  trades [UNBOUNDED]                  MONOTONIC
      TableScan  rates (non-retroactive)              MONOTONIC
----------
SELECT price FROM trades WHERE EXISTS (SELECT 1 FROM rates r WHERE r.symbol = trades.symbol AND rate > 1) AND symbol IN (SELECT symbol FROM rates)
=>
Project  price                                  MONOTONIC
  LookupSemiJoin  trades.symbol = rates.symbol  MONOTONIC
    LookupSemiJoin  trades.symbol = r.symbol    MONOTONIC
      StreamScan  trades [UNBOUNDED]            MONOTONIC
      Filter  (r.rate > 1.0)                    MONOTONIC
        TableScan  rates (non-retroactive)      MONOTONIC
    TableScan  rates (non-retroactive)          MONOTONIC
----------
SELECT price, rate FROM trades LEFT JOIN rates USING (symbol) LEFT JOIN companies USING (symbol)
=>
Project  trades.price, rates.rate                       MONOTONIC
  Union                                                 MONOTONIC
    LookupJoin  trades.symbol = companies.symbol        MONOTONIC
      Union                                             MONOTONIC
        LookupJoin  trades.symbol = rates.symbol        MONOTONIC
          StreamScan  trades [UNBOUNDED]                MONOTONIC
          TableScan  rates (non-retroactive)            MONOTONIC
        Project  trades.ts, trades.symbol, trades.price, trades.qty, NULL AS symbol, NULL AS rate  MONOTONIC
          LookupAntiJoin  trades.symbol = rates.symbol  MONOTONIC
            StreamScan  trades [UNBOUNDED]              MONOTONIC
            TableScan  rates (non-retroactive)          MONOTONIC
      TableScan  companies                              MONOTONIC
    Project  trades.ts, trades.symbol, trades.price, trades.qty, rates.symbol, rates.rate, NULL AS symbol, NULL AS sector  MONOTONIC
      LookupAntiJoin  trades.symbol = companies.symbol  MONOTONIC
        Union (as in line 4)                            MONOTONIC
        TableScan  companies                            MONOTONIC
----------
-- rows look the table up before a strict term decides about them
SELECT price FROM trades t WHERE EXISTS (SELECT 1 FROM quotes q WHERE q.symbol = t.symbol) AND EXISTS (SELECT 1 FROM rates r WHERE r.symbol = t.symbol) WINDOW 1 SECOND
=>
Project  price                             STR
  SemiJoin  t.symbol = q.symbol            STR
    LookupSemiJoin  t.symbol = r.symbol    WKS
      StreamScan  trades [RANGE 1 SECOND]  WKS
      TableScan  rates (non-retroactive)   MONOTONIC
    StreamScan  quotes [RANGE 1 SECOND]    WKS
----------
-- a SELECT of its own beside one that takes rows back
SELECT x.rate, q.bid FROM (SELECT symbol, rate FROM trades JOIN rates USING (symbol)) x LEFT JOIN quotes q USING (symbol) WINDOW 1 SECOND
=>
Project  x.rate, q.bid                                                                STR
  Union                                                                               STR
    Join  x.symbol = q.symbol                                                         WK
      Project  trades.symbol, rates.rate                                              WKS
        Filter  (trades.symbol = rates.symbol)                                        WKS
          Product                                                                     WKS
            StreamScan  trades [RANGE 1 SECOND]                                       WKS
            TableScan  rates (non-retroactive)                                        MONOTONIC
      StreamScan  quotes [RANGE 1 SECOND]                                             WKS
    Project  x.symbol, x.rate, NULL AS ts, NULL AS symbol, NULL AS bid, NULL AS size  STR
      AntiJoin  x.symbol = q.symbol                                                   STR
        Project  trades.symbol, rates.rate (as in line 4)                             WKS
        StreamScan  quotes [RANGE 1 SECOND]                                           WKS
----------
