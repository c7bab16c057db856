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
-- EXCEPT ALL counts the rows of a key: terms on keys go to both sides, others stay above
SELECT price FROM (SELECT symbol AS s, price FROM trades EXCEPT ALL SELECT symbol, bid FROM quotes) WHERE s > 'a' AND price > 2 WINDOW 1 SECOND
=>
Project  price                               STR
  Filter  ((s > 'a') AND (price > 2.0))      STR
    Negation  s = symbol, price = bid        STR
      Project  symbol AS s, price            WKS
        StreamScan  trades [RANGE 1 SECOND]  WKS
      Project  symbol, bid                   WKS
        StreamScan  quotes [RANGE 1 SECOND]  WKS
==>
Project  price                                 STR
  Filter  (price > 2.0)                        STR
    Negation  s = symbol, price = bid          STR
      Project  symbol AS s, price              WKS
        Filter  (symbol > 'a')                 WKS
          StreamScan  trades [RANGE 1 SECOND]  WKS
      Project  symbol, bid                     WKS
        Filter  (symbol > 'a')                 WKS
          StreamScan  quotes [RANGE 1 SECOND]  WKS
----------
-- also where ON leaves a column out
SELECT qty FROM (SELECT symbol, qty FROM trades EXCEPT ALL ON (symbol) SELECT symbol FROM quotes) WHERE symbol > 'a' AND qty > 2 WINDOW 1 SECOND
=>
Project  qty                                 STR
  Filter  ((symbol > 'a') AND (qty > 2))     STR
    Negation  symbol = symbol                STR
      Project  symbol, qty                   WKS
        StreamScan  trades [RANGE 1 SECOND]  WKS
      Project  symbol                        WKS
        StreamScan  quotes [RANGE 1 SECOND]  WKS
==>
Project  qty                                   STR
  Filter  (qty > 2)                            STR
    Negation  symbol = symbol                  STR
      Project  symbol, qty                     WKS
        Filter  (symbol > 'a')                 WKS
          StreamScan  trades [RANGE 1 SECOND]  WKS
      Project  symbol                          WKS
        Filter  (symbol > 'a')                 WKS
          StreamScan  quotes [RANGE 1 SECOND]  WKS
----------
-- whatever the key is on the right
SELECT qty FROM (SELECT qty FROM trades EXCEPT ALL ON (qty) SELECT size AS qty FROM quotes) WHERE qty > 2 AND FALSE WINDOW 1 SECOND
=>
Project  qty                                 STR
  Filter  ((qty > 2) AND False)              STR
    Negation  qty = CAST(qty AS BIGINT)      STR
      Project  qty                           WKS
        StreamScan  trades [RANGE 1 SECOND]  WKS
      Project  size AS qty                   WKS
        StreamScan  quotes [RANGE 1 SECOND]  WKS
==>
Project  qty                                 STR
  Negation  qty = CAST(qty AS BIGINT)        STR
    Project  qty                             WKS
      Filter  ((qty > 2) AND False)          WKS
        StreamScan  trades [RANGE 1 SECOND]  WKS
    Project  size AS qty                     WKS
      Filter  (CAST(size AS BIGINT) > 2)     WKS
        StreamScan  quotes [RANGE 1 SECOND]  WKS
----------
-- not where the key on the left is computed
SELECT size FROM (SELECT size FROM quotes EXCEPT ALL ON (size) SELECT qty AS size FROM trades) WHERE size > 2 WINDOW 1 SECOND
=>
Project  size                                STR
  Filter  (size > 2)                         STR
    Negation  CAST(size AS BIGINT) = size    STR
      Project  size                          WKS
        StreamScan  quotes [RANGE 1 SECOND]  WKS
      Project  qty AS size                   WKS
        StreamScan  trades [RANGE 1 SECOND]  WKS
==>
(unchanged)
----------
-- INTERSECT ALL is made of two
SELECT symbol FROM (SELECT symbol FROM trades INTERSECT ALL SELECT symbol FROM quotes) WHERE symbol > 'a' WINDOW 1 SECOND
=>
Project  symbol                                STR
  Filter  (symbol > 'a')                       STR
    Negation  symbol = symbol                  STR
      Project  symbol                          WKS
        StreamScan  trades [RANGE 1 SECOND]    WKS
      Negation  symbol = symbol                STR
        Project  symbol (as in line 4)         WKS
        Project  symbol                        WKS
          StreamScan  quotes [RANGE 1 SECOND]  WKS
==>
Project  symbol                                STR
  Negation  symbol = symbol                    STR
    Project  symbol                            WKS
      Filter  (symbol > 'a')                   WKS
        StreamScan  trades [RANGE 1 SECOND]    WKS
    Negation  symbol = symbol                  STR
      Project  symbol (as in line 3)           WKS
      Project  symbol                          WKS
        Filter  (symbol > 'a')                 WKS
          StreamScan  quotes [RANGE 1 SECOND]  WKS
----------
-- below EXCEPT to the left, and terms on exact keys to the right
SELECT price FROM (SELECT symbol AS s, price FROM trades EXCEPT SELECT symbol, bid FROM quotes) WHERE s > 'a' AND price > 2 WINDOW 1 SECOND
=>
Project  price                                                                  STR
  Filter  ((s > 'a') AND (price > 2.0))                                         STR
    AntiJoin  s IS NOT DISTINCT FROM symbol AND price IS NOT DISTINCT FROM bid  STR
      Distinct                                                                  WK
        Project  symbol AS s, price                                             WKS
          StreamScan  trades [RANGE 1 SECOND]                                   WKS
      Project  symbol, bid                                                      WKS
        StreamScan  quotes [RANGE 1 SECOND]                                     WKS
==>
Project  price                                                                STR
  AntiJoin  s IS NOT DISTINCT FROM symbol AND price IS NOT DISTINCT FROM bid  STR
    Distinct                                                                  WK
      Project  symbol AS s, price                                             WKS
        Filter  ((symbol > 'a') AND (price > 2.0))                            WKS
          StreamScan  trades [RANGE 1 SECOND]                                 WKS
    Project  symbol, bid                                                      WKS
      Filter  (symbol > 'a')                                                  WKS
        StreamScan  quotes [RANGE 1 SECOND]                                   WKS
----------
-- what WHERE says of a key holds for the rows that EXISTS looks for
SELECT price FROM trades t WHERE symbol = 'a' AND price > 2 AND EXISTS (SELECT 1 FROM quotes q WHERE q.symbol = t.symbol) WINDOW 1 SECOND
=>
Project  price                                  STR
  SemiJoin  t.symbol = q.symbol                 STR
    Filter  ((symbol = 'a') AND (price > 2.0))  WKS
      StreamScan  trades [RANGE 1 SECOND]       WKS
    StreamScan  quotes [RANGE 1 SECOND]         WKS
==>
Project  price                                  STR
  SemiJoin  t.symbol = q.symbol                 STR
    Filter  ((symbol = 'a') AND (price > 2.0))  WKS
      StreamScan  trades [RANGE 1 SECOND]       WKS
    Filter  (q.symbol = 'a')                    WKS
      StreamScan  quotes [RANGE 1 SECOND]       WKS
----------
SELECT price FROM (SELECT * FROM trades t WHERE NOT EXISTS (SELECT 1 FROM quotes q WHERE q.symbol = t.symbol AND q.bid > t.price)) WHERE symbol = 'a' AND qty > 1 WINDOW 1 SECOND
=>
Project  price                                             STR
  Filter  ((symbol = 'a') AND (qty > 1))                   STR
    Project  ts, symbol, price, qty                        STR
      AntiJoin  t.symbol = q.symbol AND (q.bid > t.price)  STR
        StreamScan  trades [RANGE 1 SECOND]                WKS
        StreamScan  quotes [RANGE 1 SECOND]                WKS
==>
Project  price                                           STR
  Project  ts, symbol, price, qty                        STR
    AntiJoin  t.symbol = q.symbol AND (q.bid > t.price)  STR
      Filter  ((symbol = 'a') AND (qty > 1))             WKS
        StreamScan  trades [RANGE 1 SECOND]              WKS
      Filter  (q.symbol = 'a')                           WKS
        StreamScan  quotes [RANGE 1 SECOND]              WKS
----------
-- into all parts of an outer join
SELECT t.price FROM trades t LEFT JOIN quotes q ON t.symbol = q.symbol WHERE t.qty = 1 AND q.bid IS NULL WINDOW 1 SECOND
=>
Project  t.price                               STR
  Filter  ((t.qty = 1) AND is_null(q.bid))     STR
    Union                                      STR
      Join  t.symbol = q.symbol                WK
        StreamScan  trades [RANGE 1 SECOND]    WKS
        StreamScan  quotes [RANGE 1 SECOND]    WKS
      Project  t.ts, t.symbol, t.price, t.qty, NULL AS ts, NULL AS symbol, NULL AS bid, NULL AS size  STR
        AntiJoin  t.symbol = q.symbol          STR
          StreamScan  trades [RANGE 1 SECOND]  WKS
          StreamScan  quotes [RANGE 1 SECOND]  WKS
==>
Project  t.price                                 STR
  Union                                          STR
    Join  t.symbol = q.symbol                    WK
      Filter  (t.qty = 1)                        WKS
        StreamScan  trades [RANGE 1 SECOND]      WKS
      Filter  is_null(q.bid)                     WKS
        StreamScan  quotes [RANGE 1 SECOND]      WKS
    Project  t.ts, t.symbol, t.price, t.qty, NULL AS ts, NULL AS symbol, NULL AS bid, NULL AS size  STR
      AntiJoin  t.symbol = q.symbol              STR
        Filter  ((t.qty = 1) AND is_null(NULL))  WKS
          StreamScan  trades [RANGE 1 SECOND]    WKS
        StreamScan  quotes [RANGE 1 SECOND]      WKS
----------
-- a parameter is a constant: its terms go where those of a literal go, also to the other side
CREATE QUERY q FOR EACH ROW OF rules AS
SELECT t.price FROM trades t, quotes q
WHERE t.symbol = q.symbol AND t.symbol = rules.symbol AND q.bid > rules.least AND rules.active
WINDOW 1 MINUTE
=>
Project  t.price                           WK
  Filter  ((t.symbol = q.symbol) AND (t.symbol = $rules.symbol) AND (q.bid > CAST($rules.least AS DOUBLE)) AND $rules.active)  WK
    Product                                WK
      StreamScan  trades [RANGE 1 MINUTE]  WKS
      StreamScan  quotes [RANGE 1 MINUTE]  WKS
==>
Project  t.price                                                                       WK
  Filter  ((t.symbol = q.symbol) AND $rules.active)                                    WK
    Product                                                                            WK
      Filter  (t.symbol = $rules.symbol)                                               WKS
        StreamScan  trades [RANGE 1 MINUTE]                                            WKS
      Filter  ((q.bid > CAST($rules.least AS DOUBLE)) AND (q.symbol = $rules.symbol))  WKS
        StreamScan  quotes [RANGE 1 MINUTE]                                            WKS
----------
-- but not below what would be another plan for each row then
CREATE QUERY q FOR EACH ROW OF rules AS
SELECT symbol, n FROM (SELECT symbol, COUNT(*) AS n FROM trades [NOW] GROUP BY symbol) AS g
WHERE symbol = rules.symbol AND symbol <> 'x'
=>
Project  symbol, n                                        WK
  Filter  ((symbol = $rules.symbol) AND (symbol <> 'x'))  WK
    Project  symbol, COUNT(*) AS n                        WK
      GroupBy  symbol: COUNT(*)                           WK
        StreamScan  trades [NOW]                          WKS
==>
Project  symbol, n                    WK
  Project  symbol, COUNT(*) AS n      WK
    Filter  (symbol = $rules.symbol)  WK
      GroupBy  symbol: COUNT(*)       WK
        Filter  (symbol <> 'x')       WKS
          StreamScan  trades [NOW]    WKS
----------
CREATE QUERY q FOR EACH ROW OF rules AS
SELECT t.price, c.sector FROM trades [NOW] t, companies c WHERE t.symbol = c.symbol
AND t.qty > rules.least AND t.qty > 3
=>
Project  t.price, c.sector                                                                    WKS
  Filter  ((t.symbol = c.symbol) AND (t.qty > CAST($rules.least AS BIGINT)) AND (t.qty > 3))  WKS
    Product                                                                                   WKS
      StreamScan  trades [NOW]                                                                WKS
      TableScan  companies                                                                    MONOTONIC
==>
Project  t.price, c.sector                        WKS
  Filter  (t.qty > CAST($rules.least AS BIGINT))  WKS
    Filter  (t.symbol = c.symbol)                 WKS
      Product                                     WKS
        Filter  (t.qty > 3)                       WKS
          StreamScan  trades [NOW]                WKS
        TableScan  companies                      MONOTONIC
----------
