SELECT p + 1 AS q FROM (SELECT price AS p, symbol FROM trades)
=>
Project  (p + 1.0) AS q             MONOTONIC
  Project  price AS p, symbol       MONOTONIC
    StreamScan  trades [UNBOUNDED]  MONOTONIC
==>
Project  (price + 1.0) AS q       MONOTONIC
  StreamScan  trades [UNBOUNDED]  MONOTONIC
----------
SELECT p + 1 AS q FROM (SELECT price * 2 AS p FROM trades)
=>
Project  (p + 1.0) AS q             MONOTONIC
  Project  (price * 2.0) AS p       MONOTONIC
    StreamScan  trades [UNBOUNDED]  MONOTONIC
==>
Project  ((price * 2.0) + 1.0) AS q  MONOTONIC
  StreamScan  trades [UNBOUNDED]     MONOTONIC
----------
-- not if that computes something twice
SELECT p + p AS q FROM (SELECT price * 2 AS p FROM trades)
=>
Project  (p + p) AS q               MONOTONIC
  Project  (price * 2.0) AS p       MONOTONIC
    StreamScan  trades [UNBOUNDED]  MONOTONIC
==>
(unchanged)
----------
-- hands on its input as it is
SELECT * FROM trades
=>
Project  ts, symbol, price, qty   MONOTONIC
  StreamScan  trades [UNBOUNDED]  MONOTONIC
==>
StreamScan  trades [UNBOUNDED]  MONOTONIC
----------
-- another order, or other names, is something else
SELECT symbol, ts, price, qty FROM trades
=>
Project  symbol, ts, price, qty   MONOTONIC
  StreamScan  trades [UNBOUNDED]  MONOTONIC
==>
(unchanged)
----------
SELECT ts AS t, symbol, price, qty FROM trades
=>
Project  ts AS t, symbol, price, qty  MONOTONIC
  StreamScan  trades [UNBOUNDED]      MONOTONIC
==>
(unchanged)
----------
-- into GROUP BY
SELECT s, SUM(p) FILTER (WHERE p > 1) FROM (SELECT symbol AS s, price AS p FROM trades [NOW]) GROUP BY s
=>
Project  s, SUM(p) FILTER (WHERE (p > 1.0)) AS SUM(p) FILTER(WHERE p > 1)  WK
  GroupBy  s: SUM(p) FILTER (WHERE (p > 1.0))                              WK
    Project  symbol AS s, price AS p                                       WKS
      StreamScan  trades [NOW]                                             WKS
==>
Project  s, SUM(p) FILTER (WHERE (p > 1.0)) AS SUM(p) FILTER(WHERE p > 1)  WK
  GroupBy  symbol: SUM(price) FILTER (WHERE (price > 1.0))                 WK
    StreamScan  trades [NOW]                                               WKS
----------
SELECT SUM(p), MAX(p) FROM (SELECT price * 2 AS p FROM trades [NOW])
=>
Project  SUM(p), MAX(p)          WK
  GroupBy  (): SUM(p), MAX(p)    WK
    Project  (price * 2.0) AS p  WKS
      StreamScan  trades [NOW]   WKS
==>
GroupBy  (): SUM(p), MAX(p)    WK
  Project  (price * 2.0) AS p  WKS
    StreamScan  trades [NOW]   WKS
----------
-- a Filter between them stops it
SELECT p FROM (SELECT price * 2 AS p FROM trades) WHERE p > 1
=>
Project  p                            MONOTONIC
  Filter  (p > 1.0)                   MONOTONIC
    Project  (price * 2.0) AS p       MONOTONIC
      StreamScan  trades [UNBOUNDED]  MONOTONIC
==>
Filter  (p > 1.0)                   MONOTONIC
  Project  (price * 2.0) AS p       MONOTONIC
    StreamScan  trades [UNBOUNDED]  MONOTONIC
----------
