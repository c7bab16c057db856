SELECT symbol, COUNT(*), SUM(qty) / COUNT(*) AS mean FROM trades [RANGE 1 MINUTE] GROUP BY symbol
=>
Project  symbol, COUNT(*), (CAST(SUM(qty) AS DOUBLE) / CAST(COUNT(*) AS DOUBLE)) AS mean  WK
  GroupBy  symbol: COUNT(*), SUM(qty)                                                     WK
    StreamScan  trades [RANGE 1 MINUTE]                                                   WKS
----------
-- one aggregate asked for twice is computed once
SELECT COUNT(*) AS n, COUNT(*) * 2 AS twice FROM trades [NOW] HAVING COUNT(*) > 3
=>
Project  COUNT(*) AS n, (COUNT(*) * 2) AS twice  WK
  Filter  (COUNT(*) > 3)                         WK
    GroupBy  (): COUNT(*)                        WK
      StreamScan  trades [NOW]                   WKS
----------
SELECT COUNT(DISTINCT symbol), AVG(price), MIN(ts), MAX(symbol), STDDEV(qty), COUNT(qty) FROM trades [NOW]
=>
Project  COUNT(DISTINCT symbol), AVG(price), MIN(ts), MAX(symbol), STDDEV(CAST(qty AS DOUBLE)) AS STDDEV(qty), COUNT(qty)  WK
  GroupBy  (): COUNT(DISTINCT symbol), AVG(price), MIN(ts), MAX(symbol), STDDEV(CAST(qty AS DOUBLE)), COUNT(qty)  WK
    StreamScan  trades [NOW]  WKS
----------
SELECT SUM(qty) FILTER (WHERE price > 1) AS dear FROM trades [NOW]
=>
Project  SUM(qty) FILTER (WHERE (price > 1.0)) AS dear  WK
  GroupBy  (): SUM(qty) FILTER (WHERE (price > 1.0))    WK
    StreamScan  trades [NOW]                            WKS
----------
-- keys by ordinal, by alias and by expression are the same key
SELECT UPPER(symbol) AS s, COUNT(*) FROM trades [NOW] GROUP BY 1, s, UPPER(symbol)
=>
Project  upper(symbol) AS s, COUNT(*)  WK
  GroupBy  upper(symbol): COUNT(*)     WK
    StreamScan  trades [NOW]           WKS
----------
SELECT UPPER(symbol) || '!' AS s FROM trades [NOW] GROUP BY UPPER(symbol)
=>
Project  concat(upper(symbol), '!') AS s  WK
  GroupBy  upper(symbol)                  WK
    StreamScan  trades [NOW]              WKS
----------
-- a column of FROM comes before an alias in GROUP BY
SELECT price AS qty, COUNT(*) FROM trades [NOW] GROUP BY qty, price
=>
Project  price AS qty, COUNT(*)  WK
  GroupBy  qty, price: COUNT(*)  WK
    StreamScan  trades [NOW]     WKS
----------
-- but in HAVING an alias comes before a column that is not a key
SELECT symbol, SUM(qty) AS qty FROM trades [NOW] GROUP BY symbol HAVING qty > 5
=>
Project  symbol, SUM(qty) AS qty  WK
  Filter  (SUM(qty) > 5)          WK
    GroupBy  symbol: SUM(qty)     WK
      StreamScan  trades [NOW]    WKS
----------
SELECT t.symbol, COUNT(*) FROM trades t, quotes q WHERE t.symbol = q.symbol GROUP BY t.symbol HAVING MAX(q.bid) > 1 WINDOW 1 HOUR
=>
Project  symbol, COUNT(*)                    WK
  Filter  (MAX(q.bid) > 1.0)                 WK
    GroupBy  t.symbol: COUNT(*), MAX(q.bid)  WK
      Filter  (t.symbol = q.symbol)          WK
        Product                              WK
          StreamScan  trades [RANGE 1 HOUR]  WKS
          StreamScan  quotes [RANGE 1 HOUR]  WKS
----------
-- each row once per set
SELECT symbol, qty, SUM(price) AS p, grouping_id() AS g FROM trades [NOW] GROUP BY ROLLUP (symbol, qty)
=>
Project  symbol, qty, SUM(price) AS p, get(array(0, 1, 3), CAST(grouping set AS BIGINT)) AS g  WK
  GroupBy  case(in(grouping set, 0, 1), symbol, NULL), case((grouping set = 0), qty, NULL), grouping set: SUM(price)  WK
    Unnest  array(0, 1, 2): grouping set                                                       WKS
      StreamScan  trades [NOW]                                                                 WKS
----------
SELECT qty, COUNT(*) AS n FROM trades [NOW] GROUP BY symbol, GROUPING SETS (1, ())
=>
Project  qty, COUNT(*) AS n                                                     WK
  GroupBy  symbol, case((grouping set = 0), qty, NULL), grouping set: COUNT(*)  WK
    Unnest  array(0, 1): grouping set                                           WKS
      StreamScan  trades [NOW]                                                  WKS
----------
-- the median and the list are of all values
SELECT median(price) AS m, array_agg(symbol ORDER BY price DESC) AS l, string_agg(symbol, ',') AS t FROM trades [NOW]
=>
Project  PERCENTILE_BETWEEN(price, 0.5, False) AS m, values_of_sort_keys(SORTED_LIST(case(is_not_null(symbol), sort_key('Da', price, symbol), NULL)), 'Nt', True) AS l, array_join(values_of_sort_keys(SORTED_LIST(case(is_not_null(symbol), sort_key('aa', ts, symbol), NULL)), 'nt', False), ',') AS t  WK
  GroupBy  (): PERCENTILE_BETWEEN(price, 0.5, False), SORTED_LIST(case(is_not_null(symbol), sort_key('Da', price, symbol), NULL)), SORTED_LIST(case(is_not_null(symbol), sort_key('aa', ts, symbol), NULL))  WK
    StreamScan  trades [NOW]  WKS
----------
