-- keys and arguments of aggregates are computed below, once for all queries
SELECT UPPER(symbol) AS s, COUNT(*) AS n, SUM(qty + 1) AS total FROM trades [RANGE 1 MINUTE]
WHERE price > 5 GROUP BY UPPER(symbol) HAVING COUNT(*) > 2
=>
source: StreamScan trades [UNBOUNDED]
own filter: (price > 5.0)
own names: s, n, total
columns: upper(symbol), (qty + 1)
Project  _query AS c0, upper(symbol) AS c1, COUNT(*) AS c2, SUM((qty + 1)) AS c3  WK
  Filter  (COUNT(*) > $constant 0)                                                WK
    GroupBy  _query, upper(symbol): COUNT(*), SUM((qty + 1))                      WK
      SharedRows                                                                  WK
----------
-- FILTER (WHERE ...) is a part of the grouping, WHERE is not
SELECT symbol, MAX(price) FILTER (WHERE qty > 3) AS most FROM trades [NOW] WHERE qty < 9
GROUP BY symbol
=>
source: StreamScan trades [UNBOUNDED]
own filter: (qty < 9)
own names: symbol, most
columns: symbol, price, (qty > 3)
Project  _query AS c0, symbol AS c1, MAX(price) FILTER (WHERE (qty > 3)) AS c2  WK
  GroupBy  _query, symbol: MAX(price) FILTER (WHERE (qty > 3))                  WK
    SharedRows                                                                  WK
----------
SELECT DISTINCT symbol, qty % 2 AS odd FROM trades [RANGE 1 MINUTE] WHERE price > 5
=>
source: StreamScan trades [UNBOUNDED]
own filter: (price > 5.0)
own names: symbol, odd
columns: symbol, (qty % 2)
Distinct                            WK
  SharedRows                        WK
----------
-- above a join
SELECT q.size, AVG(t.price) AS mean FROM trades [RANGE 1 MINUTE] AS t, quotes [NOW] AS q
WHERE t.symbol = q.symbol AND t.price > q.bid AND t.qty = 3 GROUP BY q.size
=>
source: StreamScan quotes [UNBOUNDED]
source: StreamScan trades [UNBOUNDED]
own filter: (qty = 3)
own residual: (price > bid)
own names: size, mean
columns: size, price
Project  _query AS c0, size AS c1, AVG(t.price) AS c2  WK
  GroupBy  _query, q.size: AVG(t.price)                WK
    SharedRows                                         WK
----------
-- above a table that is looked up
SELECT c.sector, COUNT(*) AS n FROM trades [NOW] AS t, companies AS c
WHERE t.symbol = c.symbol AND c.sector <> 'tech' AND t.qty > 3 GROUP BY c.sector
=>
source: LookupJoin symbol = symbol
own filter: (qty > 3)
own filter: (sector <> 'tech')
own names: sector, n
columns: sector
Project  _query AS c0, sector AS c1, COUNT(*) AS c2  WK
  GroupBy  _query, c.sector: COUNT(*)                WK
    SharedRows                                       WK
----------
-- groups of groups
SELECT n, COUNT(*) AS groups FROM (
  SELECT symbol, COUNT(*) AS n FROM trades [RANGE 1 MINUTE] WHERE qty > 3 GROUP BY symbol
) AS g GROUP BY n
=>
source: StreamScan trades [UNBOUNDED]
own filter: (qty > 3)
own names: n, groups
columns: symbol
Project  _query AS c0, n AS c1, COUNT(*) AS c2  WK
  GroupBy  _query, COUNT(*): COUNT(*)           WK
    GroupBy  _query, symbol: COUNT(*)           WK
      SharedRows                                WK
----------
-- a source that is no window of time, with a condition on it
SELECT symbol, COUNT(*) AS n FROM trades [ROWS 10] WHERE qty > 3 GROUP BY symbol
=>
source: StreamScan trades [ROWS 10]
own filter: (qty > 3)
own names: symbol, n
columns: symbol
Project  _query AS c0, symbol AS c1, COUNT(*) AS c2  WK
  GroupBy  _query, symbol: COUNT(*)                  WK
    SharedRows                                       STR
----------
-- a group of all rows is there before any row
SELECT COUNT(*) AS n FROM trades [NOW] WHERE qty > 3
=>
none
----------
-- rows of an unbounded stream are not kept
SELECT symbol, COUNT(*) AS n FROM trades [UNBOUNDED] WHERE qty > 3 GROUP BY symbol
=>
none
----------
-- what nothing is asked of is shared as far as plans are equal
SELECT symbol, COUNT(*) AS n FROM trades [ROWS 10] GROUP BY symbol
=>
none
----------
-- nothing is grouped
SELECT symbol FROM trades [NOW] WHERE qty > 3
=>
none
----------
-- EXCEPT above what is grouped: the right rows are the same for all queries
SELECT symbol FROM trades [RANGE 1 MINUTE] WHERE qty > 3 EXCEPT
SELECT symbol FROM quotes [RANGE 5 SECONDS]
=>
source: StreamScan trades [UNBOUNDED]
own filter: (qty > 3)
own names: symbol
columns: symbol
AntiJoin  symbol IS NOT DISTINCT FROM symbol  STR
  Distinct                                    WK
    SharedRows                                WK
  Project  symbol                             WKS
----------
-- terms on right rows that follow from those of the query are not a part of what is shared
SELECT q.symbol FROM (SELECT DISTINCT symbol FROM trades [RANGE 1 MINUTE] WHERE symbol = 'A') AS q
WHERE EXISTS (SELECT 1 FROM quotes [RANGE 5 SECONDS] AS o WHERE o.symbol = q.symbol AND o.bid > 2)
=>
source: StreamScan trades [UNBOUNDED]
own filter: (symbol = 'A')
own names: symbol
columns: symbol
SemiJoin  q.symbol = o.symbol         STR
  Distinct                            WK
    SharedRows                        WK
  Filter  (o.bid > 2.0)               WKS
----------
-- groups that are looked for, of which HAVING has a constant
SELECT g.symbol, g.n FROM (
  SELECT symbol, COUNT(*) AS n FROM trades [RANGE 1 MINUTE] GROUP BY symbol HAVING COUNT(*) > 7
) AS g WHERE g.n NOT IN (SELECT qty FROM trades [RANGE 5 SECONDS] WHERE qty IS NOT NULL)
=>
source: StreamScan trades [UNBOUNDED]
own names: symbol, n
columns: symbol
AntiJoin  is_null(g.n) = True                                      STR
  Project  _query AS c0, symbol AS c1, COUNT(*) AS c2              STR
    AntiJoin  COUNT(*) = trades.qty                                STR
      AntiJoin  (any row)                                          STR
        Filter  (COUNT(*) > $constant 0)                           WK
          GroupBy  _query, symbol: COUNT(*)                        WK
            SharedRows                                             WK
        Filter  (is_not_null(trades.qty) AND is_null(trades.qty))  WKS
          StreamScan  trades [NOW]                                 WKS
      Filter  is_not_null(trades.qty)                              WKS
        StreamScan  trades [NOW]                                   WKS
  Filter  is_not_null(trades.qty) (as in line 11)                  WKS
----------
-- a condition on both rows
SELECT g.symbol FROM (SELECT DISTINCT symbol, qty FROM trades [RANGE 1 MINUTE] WHERE qty > 3) AS g
WHERE EXISTS (SELECT 1 FROM quotes [NOW] AS o WHERE o.symbol = g.symbol AND o.bid > g.qty)
=>
none
----------
