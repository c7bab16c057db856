-- columns of the row are constants: the table is not joined
CREATE QUERY alerts FOR EACH ROW OF rules AS
SELECT rules.id, t.symbol, t.price FROM trades [NOW] AS t
WHERE t.symbol = rules.symbol AND t.price > rules.least
=>
Project  $rules.id AS id, symbol, price                                          WKS
  Filter  ((symbol = $rules.symbol) AND (price > CAST($rules.least AS DOUBLE)))  WKS
    StreamScan  trades [NOW]                                                     WKS
----------
-- under a name of its own, so that the table can stand in FROM as well
CREATE QUERY alerts FOR EACH ROW OF rules AS r AS
SELECT r.id, rules.id AS other FROM trades [NOW] t JOIN rules ON rules.symbol = t.symbol
WHERE rules.id <> r.id
=>
Project  $r.id AS id, rules.id AS other                        STR
  Filter  ((rules.symbol = t.symbol) AND (rules.id <> $r.id))  STR
    Product                                                    STR
      StreamScan  trades [NOW]                                 WKS
      TableScan  rules (retroactive)                           STR
----------
-- all of them; a * alone means FROM
CREATE QUERY alerts FOR EACH ROW OF rules r AS SELECT *, r.* FROM trades [NOW]
=>
Project  ts, symbol, price, qty, $r.id AS id, $r.symbol AS symbol_1, $r.least AS least, $r.active AS active  WKS
  StreamScan  trades [NOW]  WKS
----------
-- on any level: WITH, sub-queries in FROM, EXISTS, IN, ON
CREATE QUERY alerts FOR EACH ROW OF rules AS
WITH dear AS (SELECT symbol, price FROM trades WHERE price > rules.least)
SELECT rules.id, d.price FROM dear AS d
JOIN (SELECT symbol, bid FROM quotes WHERE size > rules.least) AS q
  ON d.symbol = q.symbol AND q.bid + rules.least > d.price
WHERE EXISTS (SELECT 1 FROM orders o WHERE o.symbol = d.symbol AND o.id = rules.id)
  AND d.symbol IN (SELECT symbol FROM companies WHERE sector = rules.symbol)
WINDOW 1 MINUTE
=>
Project  $rules.id AS id, d.price                                                             STR
  LookupSemiJoin  d.symbol = companies.symbol                                                 STR
    SemiJoin  d.symbol = o.symbol                                                             STR
      Filter  ((d.symbol = q.symbol) AND ((q.bid + CAST($rules.least AS DOUBLE)) > d.price))  WK
        Product                                                                               WK
          Project  symbol, price                                                              WKS
            Filter  (price > CAST($rules.least AS DOUBLE))                                    WKS
              StreamScan  trades [RANGE 1 MINUTE]                                             WKS
          Project  symbol, bid                                                                WKS
            Filter  (size > $rules.least)                                                     WKS
              StreamScan  quotes [RANGE 1 MINUTE]                                             WKS
      Filter  (o.id = $rules.id)                                                              WKS
        StreamScan  orders [RANGE 1 MINUTE]                                                   WKS
    Filter  (companies.sector = $rules.symbol)                                                MONOTONIC
      TableScan  companies                                                                    MONOTONIC
----------
-- in groups they are what constants are
CREATE QUERY alerts FOR EACH ROW OF rules AS
SELECT rules.id, symbol, SUM(qty * rules.least) AS total,
  COUNT(*) FILTER (WHERE price > rules.least) AS dear
FROM trades [RANGE 1 MINUTE] GROUP BY symbol HAVING COUNT(*) > rules.least
=>
Project  $rules.id AS id, symbol, SUM((qty * CAST($rules.least AS BIGINT))) AS total, COUNT(*) FILTER (WHERE (price > CAST($rules.least AS DOUBLE))) AS dear  WK
  Filter  (COUNT(*) > CAST($rules.least AS BIGINT))  WK
    GroupBy  symbol: SUM((qty * CAST($rules.least AS BIGINT))), COUNT(*) FILTER (WHERE (price > CAST($rules.least AS DOUBLE))), COUNT(*)  WK
      StreamScan  trades [RANGE 1 MINUTE]            WKS
----------
-- a key that is one
CREATE QUERY alerts FOR EACH ROW OF rules AS
SELECT rules.symbol, MAX(price) AS top FROM trades [RANGE 1 MINUTE] GROUP BY rules.symbol
=>
Project  $rules.symbol, MAX(price) AS top  WK
  GroupBy  $rules.symbol: MAX(price)       WK
    StreamScan  trades [RANGE 1 MINUTE]    WKS
----------
-- conditions and operands of every kind
CREATE QUERY alerts FOR EACH ROW OF rules AS
SELECT CASE WHEN rules.active THEN price ELSE -rules.least END AS x FROM trades [NOW]
WHERE rules.active AND price BETWEEN rules.least AND rules.least * 2
  AND symbol IN (rules.symbol, 'all') AND startswith(symbol, rules.symbol)
=>
Project  case($rules.active, price, CAST(negative($rules.least) AS DOUBLE)) AS x  WKS
  Filter  ($rules.active AND (price >= CAST($rules.least AS DOUBLE)) AND (price <= CAST(($rules.least * 2) AS DOUBLE)) AND in(symbol, $rules.symbol, 'all') AND (left(symbol, CAST(length($rules.symbol) AS BIGINT)) = $rules.symbol))  WKS
    StreamScan  trades [NOW]                                                      WKS
----------
-- none is used: equal queries for all rows
CREATE QUERY alerts FOR EACH ROW OF companies AS SELECT price FROM trades [NOW]
=>
Project  price              WKS
  StreamScan  trades [NOW]  WKS
----------
-- set operations and views
CREATE QUERY alerts FOR EACH ROW OF rules AS
SELECT symbol, mean FROM averages WHERE mean > rules.least
UNION ALL SELECT rules.symbol, bid FROM quotes WHERE symbol = rules.symbol WINDOW 10 SECONDS
=>
Union                                              WK
  Project  symbol, mean                            WK
    Filter  (mean > CAST($rules.least AS DOUBLE))  WK
      Project  symbol, AVG(price) AS mean          WK
        GroupBy  symbol: AVG(price)                WK
          StreamScan  trades [RANGE 10 SECONDS]    WKS
  Project  $rules.symbol AS symbol, bid            WKS
    Filter  (symbol = $rules.symbol)               WKS
      StreamScan  quotes [RANGE 10 SECONDS]        WKS
----------
-- windows with lengths in the row
CREATE QUERY alerts FOR EACH ROW OF rules AS
SELECT price FROM trades [RANGE rules.least SECONDS AT MOST 1 DAY]
=>
Project  price                                                   WKS
  StreamScan  trades [RANGE $rules.least SECONDS AT MOST 1 DAY]  WKS
----------
