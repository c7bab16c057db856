-- the groups of symbols that have a quote
SELECT g.symbol, g.n FROM (SELECT t.symbol, COUNT(*) AS n FROM trades [RANGE 1 HOUR] AS t, orders [RANGE 1 HOUR] AS o WHERE t.qty = o.qty GROUP BY t.symbol) AS g, quotes [RANGE 1 HOUR] AS q WHERE g.symbol = q.symbol
=>
Project  g.symbol, g.n                         WK
  Join  g.symbol = q.symbol                    WK
    Project  symbol, COUNT(*) AS n             WK
      GroupBy  t.symbol: COUNT(*)              WK
        Admitted  t.symbol = q.symbol          WK
          Join  t.qty = CAST(o.qty AS BIGINT)  WK
            StreamScan  trades [RANGE 1 HOUR]  WKS
            StreamScan  orders [RANGE 1 HOUR]  WKS
    StreamScan  quotes [RANGE 1 HOUR]          WKS
----------
-- left rows of EXISTS that are joined, of several streams
SELECT t.symbol FROM trades [RANGE 1 HOUR] AS t, orders [RANGE 1 HOUR] AS o, quotes [RANGE 1 HOUR] AS q WHERE t.qty = o.qty AND t.symbol = q.symbol AND NOT EXISTS (SELECT 1 FROM orders [NOW] AS m WHERE m.symbol = t.symbol AND m.id < o.id)
=>
Project  t.symbol                                    STR
  Join  t.symbol = q.symbol                          STR
    AntiJoin  t.symbol = m.symbol AND (m.id < o.id)  STR
      Admitted  t.symbol = q.symbol                  WK
        Join  t.qty = CAST(o.qty AS BIGINT)          WK
          StreamScan  trades [RANGE 1 HOUR]          WKS
          StreamScan  orders [RANGE 1 HOUR]          WKS
      StreamScan  orders [NOW]                       WKS
    StreamScan  quotes [RANGE 1 HOUR]                WKS
----------
-- of one stream, with a condition
SELECT j.symbol FROM (SELECT * FROM trades [RANGE 1 HOUR] AS t WHERE EXISTS (SELECT 1 FROM orders [RANGE 1 HOUR] AS o WHERE o.symbol = t.symbol AND o.qty < t.qty)) AS j, quotes [RANGE 1 HOUR] AS q WHERE j.symbol = q.symbol
=>
Project  j.symbol                                                      STR
  Join  j.symbol = q.symbol                                            STR
    SemiJoin  t.symbol = o.symbol AND (CAST(o.qty AS BIGINT) < t.qty)  STR
      Admitted  j.symbol = q.symbol                                    WK
        StreamScan  trades [RANGE 1 HOUR]                              WKS
      StreamScan  orders [RANGE 1 HOUR]                                WKS
    StreamScan  quotes [RANGE 1 HOUR]                                  WKS
----------
-- by keys alone a row of a stream costs as little as a gate
SELECT j.symbol FROM (SELECT * FROM trades [RANGE 1 HOUR] AS t WHERE EXISTS (SELECT 1 FROM orders [RANGE 1 HOUR] AS o WHERE o.symbol = t.symbol)) AS j, quotes [RANGE 1 HOUR] AS q WHERE j.symbol = q.symbol
=>
(unchanged)
----------
-- rows that a LEFT JOIN preserves: once for both parts
SELECT t.symbol, o.id FROM trades [RANGE 1 HOUR] AS t LEFT JOIN orders [RANGE 1 HOUR] AS o ON o.qty = t.qty, quotes [RANGE 1 HOUR] AS q WHERE t.symbol = q.symbol
=>
Project  t.symbol, o.id                                 STR
  Join  t.symbol = q.symbol                             STR
    Union                                               STR
      Join  t.qty = CAST(o.qty AS BIGINT)               WK
        Admitted  t.symbol = q.symbol                   WK
          StreamScan  trades [RANGE 1 HOUR]             WKS
        StreamScan  orders [RANGE 1 HOUR]               WKS
      Project  t.ts, t.symbol, t.price, t.qty, NULL AS ts, NULL AS id, NULL AS symbol, NULL AS qty  STR
        AntiJoin  t.qty = CAST(o.qty AS BIGINT)         STR
          Admitted  t.symbol = q.symbol (as in line 5)  WK
          StreamScan  orders [RANGE 1 HOUR]             WKS
    StreamScan  quotes [RANGE 1 HOUR]                   WKS
----------
-- of a FULL JOIN the pairs alone
SELECT t.symbol, o.id FROM trades [RANGE 1 HOUR] AS t FULL JOIN orders [RANGE 1 HOUR] AS o ON o.qty = t.qty, quotes [RANGE 1 HOUR] AS q WHERE t.symbol = q.symbol
=>
Project  t.symbol, o.id                          STR
  Join  t.symbol = q.symbol                      STR
    Union                                        STR
      Admitted  t.symbol = q.symbol              WK
        Join  t.qty = CAST(o.qty AS BIGINT)      WK
          StreamScan  trades [RANGE 1 HOUR]      WKS
          StreamScan  orders [RANGE 1 HOUR]      WKS
      Project  t.ts, t.symbol, t.price, t.qty, NULL AS ts, NULL AS id, NULL AS symbol, NULL AS qty  STR
        AntiJoin  t.qty = CAST(o.qty AS BIGINT)  STR
          StreamScan  trades [RANGE 1 HOUR]      WKS
          StreamScan  orders [RANGE 1 HOUR]      WKS
      Project  NULL AS ts, NULL AS symbol, NULL AS price, NULL AS qty, o.ts, o.id, o.symbol, o.qty  STR
        AntiJoin  CAST(o.qty AS BIGINT) = t.qty  STR
          StreamScan  orders [RANGE 1 HOUR]      WKS
          StreamScan  trades [RANGE 1 HOUR]      WKS
    StreamScan  quotes [RANGE 1 HOUR]            WKS
----------
-- the second LEFT JOIN needs all rows of the first
SELECT t.symbol, o.id, q.bid FROM trades [RANGE 1 HOUR] AS t LEFT JOIN orders [RANGE 1 HOUR] AS o ON o.qty = t.qty LEFT JOIN quotes [RANGE 1 HOUR] AS q ON t.symbol = q.symbol
=>
(unchanged)
----------
-- rows that the right side of EXISTS reads, too, are not suspended
SELECT j.symbol FROM (SELECT * FROM trades [RANGE 1 HOUR] AS t WHERE NOT EXISTS (SELECT 1 FROM trades [RANGE 1 HOUR] AS o WHERE o.price = t.price AND o.qty < t.qty)) AS j, quotes [RANGE 1 HOUR] AS q WHERE j.symbol = q.symbol
=>
(unchanged)
----------
-- windows of rows are not passed
SELECT j.symbol FROM (SELECT * FROM trades [ROWS 9] AS t WHERE EXISTS (SELECT 1 FROM orders [RANGE 1 HOUR] AS o WHERE o.symbol = t.symbol AND o.qty < t.qty)) AS j, quotes [RANGE 1 HOUR] AS q WHERE j.symbol = q.symbol
=>
(unchanged)
----------
