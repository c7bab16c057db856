SELECT price FROM trades UNION ALL (SELECT bid FROM quotes UNION ALL SELECT price FROM cheap)
=>
Union                                   STR
  Project  price                        MONOTONIC
    StreamScan  trades [UNBOUNDED]      MONOTONIC
  Union                                 STR
    Project  bid                        MONOTONIC
      StreamScan  quotes [UNBOUNDED]    MONOTONIC
    Project  price                      STR
      Project  symbol, price            STR
        Filter  (price < 5.0)           STR
          StreamScan  trades [ROWS 10]  STR
==>
Union                                 STR
  Project  price                      MONOTONIC
    StreamScan  trades [UNBOUNDED]    MONOTONIC
  Project  bid                        MONOTONIC
    StreamScan  quotes [UNBOUNDED]    MONOTONIC
  Project  price                      STR
    Project  symbol, price            STR
      Filter  (price < 5.0)           STR
        StreamScan  trades [ROWS 10]  STR
----------
-- not below DISTINCT
SELECT price FROM trades [NOW] UNION ALL (SELECT bid FROM quotes [NOW] UNION SELECT price FROM cheap)
=>
Union                                     STR
  Project  price                          WKS
    StreamScan  trades [NOW]              WKS
  Distinct                                STR
    Union                                 STR
      Project  bid                        WKS
        StreamScan  quotes [NOW]          WKS
      Project  price                      STR
        Project  symbol, price            STR
          Filter  (price < 5.0)           STR
            StreamScan  trades [ROWS 10]  STR
==>
(unchanged)
----------
