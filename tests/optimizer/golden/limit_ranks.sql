-- top-n per key: only the first rows of each key are kept in order
SELECT symbol, price, ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY price DESC) AS n FROM trades [RANGE 1 MINUTE] QUALIFY n <= 3
=>
Project  symbol, price, row_number() AS n                        STR
  Filter  (row_number() <= 3)                                    STR
    Over  PARTITION BY symbol ORDER BY price DESC: row_number()  STR
      StreamScan  trades [RANGE 1 MINUTE]                        WKS
==>
Project  symbol, price, row_number() AS n                                      STR
  Over  PARTITION BY symbol ORDER BY price DESC row_number <= 3: row_number()  STR
    StreamScan  trades [RANGE 1 MINUTE]                                        WKS
----------
-- the rank is not shown, so it is not computed
SELECT symbol, price FROM trades [RANGE 1 MINUTE] QUALIFY RANK() OVER (PARTITION BY symbol ORDER BY price DESC) < 3
=>
Project  symbol, price                                     STR
  Filter  (rank() < 3)                                     STR
    Over  PARTITION BY symbol ORDER BY price DESC: rank()  STR
      StreamScan  trades [RANGE 1 MINUTE]                  WKS
==>
Project  symbol, price                                     STR
  Over  PARTITION BY symbol ORDER BY price DESC rank <= 2  STR
    StreamScan  trades [RANGE 1 MINUTE]                    WKS
----------
-- the first row of each key; the literal may stand on the left
SELECT symbol, price FROM trades [RANGE 1 MINUTE] QUALIFY 1 = ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY price)
=>
Project  symbol, price                                      STR
  Filter  (1 = row_number())                                STR
    Over  PARTITION BY symbol ORDER BY price: row_number()  STR
      StreamScan  trades [RANGE 1 MINUTE]                   WKS
==>
Project  symbol, price                                      STR
  Over  PARTITION BY symbol ORDER BY price row_number <= 1  STR
    StreamScan  trades [RANGE 1 MINUTE]                     WKS
----------
-- one row that is not the first: the condition stays
SELECT symbol, price FROM trades [RANGE 1 MINUTE] QUALIFY ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY price) = 2
=>
Project  symbol, price                                      STR
  Filter  (row_number() = 2)                                STR
    Over  PARTITION BY symbol ORDER BY price: row_number()  STR
      StreamScan  trades [RANGE 1 MINUTE]                   WKS
==>
(unchanged)
----------
-- another condition stays above
SELECT symbol, price FROM trades [RANGE 1 MINUTE] QUALIFY DENSE_RANK() OVER (PARTITION BY symbol ORDER BY price DESC) <= 2 AND price > 10.0
=>
Project  symbol, price                                           STR
  Filter  ((dense_rank() <= 2) AND (price > 10.0))               STR
    Over  PARTITION BY symbol ORDER BY price DESC: dense_rank()  STR
      StreamScan  trades [RANGE 1 MINUTE]                        WKS
==>
Project  symbol, price                                                           STR
  Filter  (price > 10.0)                                                         STR
    Over  PARTITION BY symbol ORDER BY price DESC dense_rank <= 2: dense_rank()  STR
      StreamScan  trades [RANGE 1 MINUTE]                                        WKS
----------
-- in a sub-query, as engines without QUALIFY write it
SELECT symbol, price FROM (SELECT symbol, price, ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY price DESC) AS n FROM trades [RANGE 1 MINUTE]) WHERE n <= 3
=>
Project  symbol, price                                             STR
  Filter  (n <= 3)                                                 STR
    Project  symbol, price, row_number() AS n                      STR
      Over  PARTITION BY symbol ORDER BY price DESC: row_number()  STR
        StreamScan  trades [RANGE 1 MINUTE]                        WKS
==>
(unchanged)
----------
-- not for the last rows, nor for another function
SELECT symbol, price FROM trades [RANGE 1 MINUTE] QUALIFY ROW_NUMBER() OVER (PARTITION BY symbol ORDER BY price) > 3
=>
Project  symbol, price                                      STR
  Filter  (row_number() > 3)                                STR
    Over  PARTITION BY symbol ORDER BY price: row_number()  STR
      StreamScan  trades [RANGE 1 MINUTE]                   WKS
==>
(unchanged)
----------
SELECT symbol, price FROM trades [RANGE 1 MINUTE] QUALIFY NTILE(4) OVER (PARTITION BY symbol ORDER BY price) <= 1
=>
Project  symbol, price                                  STR
  Filter  (ntile(4) <= 1)                               STR
    Over  PARTITION BY symbol ORDER BY price: ntile(4)  STR
      StreamScan  trades [RANGE 1 MINUTE]               WKS
==>
(unchanged)
----------
