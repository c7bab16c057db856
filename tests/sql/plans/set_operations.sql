SELECT price FROM trades [NOW] EXCEPT SELECT bid FROM quotes [NOW]
=>
AntiJoin  price IS NOT DISTINCT FROM bid  STR
  Distinct                                WK
    Project  price                        WKS
      StreamScan  trades [NOW]            WKS
  Project  bid                            WKS
    StreamScan  quotes [NOW]              WKS
----------
SELECT symbol, price FROM trades [NOW] EXCEPT ALL SELECT symbol, size FROM quotes [NOW]
=>
Negation  symbol = symbol, price = size          STR
  Project  symbol, price                         WKS
    StreamScan  trades [NOW]                     WKS
  Project  symbol, CAST(size AS DOUBLE) AS size  WKS
    Project  symbol, size                        WKS
      StreamScan  quotes [NOW]                   WKS
----------
-- the other columns need not agree
SELECT symbol, price FROM trades EXCEPT ALL ON (symbol) SELECT * FROM quotes WINDOW 10 SECONDS
=>
Negation  symbol = symbol                  STR
  Project  symbol, price                   WKS
    StreamScan  trades [RANGE 10 SECONDS]  WKS
  Project  ts, symbol, bid, size           WKS
    StreamScan  quotes [RANGE 10 SECONDS]  WKS
----------
-- keys go by output names, in any case, and have one type
SELECT symbol, price AS p FROM trades EXCEPT ALL ON (SYMBOL, p) SELECT size AS P, symbol FROM quotes WINDOW 10 SECONDS
=>
Negation  symbol = symbol, p = CAST(P AS DOUBLE)  STR
  Project  symbol, price AS p                     WKS
    StreamScan  trades [RANGE 10 SECONDS]         WKS
  Project  size AS P, symbol                      WKS
    StreamScan  quotes [RANGE 10 SECONDS]         WKS
----------
SELECT symbol FROM trades [NOW] MINUS SELECT symbol FROM quotes [NOW]
=>
AntiJoin  symbol IS NOT DISTINCT FROM symbol  STR
  Distinct                                    WK
    Project  symbol                           WKS
      StreamScan  trades [NOW]                WKS
  Project  symbol                             WKS
    StreamScan  quotes [NOW]                  WKS
----------
-- NULL equals NULL
SELECT symbol, price FROM trades INTERSECT SELECT symbol, bid FROM quotes WINDOW 10 SECONDS
=>
Project  symbol, price                         WK
  Join  coalesce(symbol, '') = coalesce(symbol, '') AND is_null(symbol) = is_null(symbol) AND coalesce(price, 0.0) = coalesce(bid, 0.0) AND is_null(price) = is_null(bid)  WK
    Distinct                                   WK
      Project  symbol, price                   WKS
        StreamScan  trades [RANGE 10 SECONDS]  WKS
    Distinct                                   WK
      Project  symbol, bid                     WKS
        StreamScan  quotes [RANGE 10 SECONDS]  WKS
----------
-- columns of every type, and one that is always NULL
SELECT NULL, TRUE, 1, 1L, CAST(1 AS FLOAT), CAST(1 AS DECIMAL(5, 2)), 'a', CAST('a' AS BINARY), DATE '2026-01-31', ts, INTERVAL 1 SECOND FROM trades [NOW] INTERSECT SELECT NULL, FALSE, 2, 2L, CAST(2 AS FLOAT), CAST(2 AS DECIMAL(5, 2)), 'b', CAST('b' AS BINARY), DATE '2026-01-30', ts, INTERVAL 2 SECONDS FROM quotes [NOW]
=>
Project  NULL, TRUE, 1, CAST(1 AS BIGINT), CAST(1 AS FLOAT), CAST(1 AS DECIMAL(5, 2)), 'a', CAST('a' AS BINARY), CAST('2026-01-31' AS DATE), ts, INTERVAL '1' SECOND  WK
  Join  NULL = NULL AND is_null(NULL) = is_null(NULL) AND coalesce(TRUE, False) = coalesce(FALSE, False) AND is_null(TRUE) = is_null(FALSE) AND coalesce(1, 0) = coalesce(2, 0) AND is_null(1) = is_null(2) AND coalesce(CAST(1 AS BIGINT), 0) = coalesce(CAST(2 AS BIGINT), 0) AND is_null(CAST(1 AS BIGINT)) = is_null(CAST(2 AS BIGINT)) AND coalesce(CAST(1 AS FLOAT), 0.0) = coalesce(CAST(2 AS FLOAT), 0.0) AND is_null(CAST(1 AS FLOAT)) = is_null(CAST(2 AS FLOAT)) AND coalesce(CAST(1 AS DECIMAL(5, 2)), 0.00) = coalesce(CAST(2 AS DECIMAL(5, 2)), 0.00) AND is_null(CAST(1 AS DECIMAL(5, 2))) = is_null(CAST(2 AS DECIMAL(5, 2))) AND coalesce('a', '') = coalesce('b', '') AND is_null('a') = is_null('b') AND coalesce(CAST('a' AS BINARY), b'') = coalesce(CAST('b' AS BINARY), b'') AND is_null(CAST('a' AS BINARY)) = is_null(CAST('b' AS BINARY)) AND coalesce(CAST('2026-01-31' AS DATE), 1970-01-01) = coalesce(CAST('2026-01-30' AS DATE), 1970-01-01) AND is_null(CAST('2026-01-31' AS DATE)) = is_null(CAST('2026-01-30' AS DATE)) AND coalesce(ts, 1970-01-01 00:00:00+00:00) = coalesce(ts, 1970-01-01 00:00:00+00:00) AND is_null(ts) = is_null(ts) AND coalesce(INTERVAL '1' SECOND, 0:00:00) = coalesce(INTERVAL '2' SECONDS, 0:00:00) AND is_null(INTERVAL '1' SECOND) = is_null(INTERVAL '2' SECONDS)  WK
    Distinct                      WK
      Project  NULL AS NULL, True AS TRUE, 1 AS 1, 1 AS CAST(1 AS BIGINT), 1.0 AS CAST(1 AS FLOAT), 1.00 AS CAST(1 AS DECIMAL(5, 2)), 'a' AS 'a', b'a' AS CAST('a' AS BINARY), 2026-01-31 AS CAST('2026-01-31' AS DATE), ts, 0:00:01 AS INTERVAL '1' SECOND  WKS
        StreamScan  trades [NOW]  WKS
    Distinct                      WK
      Project  NULL AS NULL, False AS FALSE, 2 AS 2, 2 AS CAST(2 AS BIGINT), 2.0 AS CAST(2 AS FLOAT), 2.00 AS CAST(2 AS DECIMAL(5, 2)), 'b' AS 'b', b'b' AS CAST('b' AS BINARY), 2026-01-30 AS CAST('2026-01-30' AS DATE), ts, 0:00:02 AS INTERVAL '2' SECONDS  WKS
        StreamScan  quotes [NOW]  WKS
----------
-- min(v1, v2) = v1 - max(v1 - v2, 0)
SELECT symbol FROM trades INTERSECT ALL SELECT symbol FROM quotes WINDOW 10 SECONDS
=>
Negation  symbol = symbol                    STR
  Project  symbol                            WKS
    StreamScan  trades [RANGE 10 SECONDS]    WKS
  Negation  symbol = symbol                  STR
    Project  symbol (as in line 2)           WKS
    Project  symbol                          WKS
      StreamScan  quotes [RANGE 10 SECONDS]  WKS
----------
-- INTERSECT binds tighter
SELECT symbol FROM trades UNION ALL SELECT symbol FROM orders INTERSECT SELECT symbol FROM quotes WINDOW 10 SECONDS
=>
Union                                                                                        WK
  Project  symbol                                                                            WKS
    StreamScan  trades [RANGE 10 SECONDS]                                                    WKS
  Project  symbol                                                                            WK
    Join  coalesce(symbol, '') = coalesce(symbol, '') AND is_null(symbol) = is_null(symbol)  WK
      Distinct                                                                               WK
        Project  symbol                                                                      WKS
          StreamScan  orders [RANGE 10 SECONDS]                                              WKS
      Distinct                                                                               WK
        Project  symbol                                                                      WKS
          StreamScan  quotes [RANGE 10 SECONDS]                                              WKS
----------
-- the others from left to right
SELECT symbol FROM trades EXCEPT ALL SELECT symbol FROM orders UNION ALL SELECT symbol FROM quotes WINDOW 10 SECONDS
=>
Union                                        STR
  Negation  symbol = symbol                  STR
    Project  symbol                          WKS
      StreamScan  trades [RANGE 10 SECONDS]  WKS
    Project  symbol                          WKS
      StreamScan  orders [RANGE 10 SECONDS]  WKS
  Project  symbol                            WKS
    StreamScan  quotes [RANGE 10 SECONDS]    WKS
----------
-- unless parentheses say otherwise
SELECT symbol FROM trades EXCEPT ALL (SELECT symbol FROM orders UNION ALL SELECT symbol FROM quotes) WINDOW 10 SECONDS
=>
Negation  symbol = symbol                    STR
  Project  symbol                            WKS
    StreamScan  trades [RANGE 10 SECONDS]    WKS
  Union                                      WKS
    Project  symbol                          WKS
      StreamScan  orders [RANGE 10 SECONDS]  WKS
    Project  symbol                          WKS
      StreamScan  quotes [RANGE 10 SECONDS]  WKS
----------
-- a changing table needs no window
SELECT symbol FROM limits EXCEPT SELECT symbol FROM companies
=>
AntiJoin  symbol IS NOT DISTINCT FROM symbol  STR
  Distinct                                    STR
    Project  symbol                           STR
      TableScan  limits (retroactive)         STR
  Project  symbol                             MONOTONIC
    TableScan  companies                      MONOTONIC
----------
