-- each row would change a group, and each change would be joined
SELECT a.symbol, a.n, b.n AS quotes FROM (SELECT symbol, window_end, COUNT(*) AS n FROM trades [TUMBLE 1 MINUTE] GROUP BY symbol, window_start, window_end) AS a, (SELECT symbol, window_end, COUNT(*) AS n FROM quotes [TUMBLE 1 MINUTE] GROUP BY symbol, window_start, window_end) AS b WHERE a.symbol = b.symbol AND a.window_end = b.window_end EMIT FINAL
=>
Project  symbol, n, quotes                                               MONOTONIC
  FinalRows  at window_end                                               MONOTONIC
    Project  a.symbol, a.n, b.n AS quotes, window_end                    WK
      Filter  ((a.symbol = b.symbol) AND (a.window_end = b.window_end))  WK
        Product                                                          WK
          Project  symbol, window_end, COUNT(*) AS n                     WK
            GroupBy  symbol, window_start, window_end: COUNT(*)          WK
              Windowed  TUMBLE 1 MINUTE                                  WKS
                StreamScan  trades [RANGE 1 MINUTE]                      WKS
          Project  symbol, window_end, COUNT(*) AS n                     WK
            GroupBy  symbol, window_start, window_end: COUNT(*)          WK
              Windowed  TUMBLE 1 MINUTE                                  WKS
                StreamScan  quotes [RANGE 1 MINUTE]                      WKS
==>
Project  symbol, n, quotes                                               MONOTONIC
  FinalRows  at window_end                                               MONOTONIC
    Project  a.symbol, a.n, b.n AS quotes, window_end                    WK
      Filter  ((a.symbol = b.symbol) AND (a.window_end = b.window_end))  WK
        Product                                                          WK
          Project  symbol, window_end, COUNT(*) AS n                     WKS
            FinalRows  just before window_end                            WKS
              GroupBy  symbol, window_start, window_end: COUNT(*)        WK
                Windowed  TUMBLE 1 MINUTE                                WKS
                  StreamScan  trades [RANGE 1 MINUTE]                    WKS
          Project  symbol, window_end, COUNT(*) AS n                     WKS
            FinalRows  just before window_end                            WKS
              GroupBy  symbol, window_start, window_end: COUNT(*)        WK
                Windowed  TUMBLE 1 MINUTE                                WKS
                  StreamScan  quotes [RANGE 1 MINUTE]                    WKS
----------
-- groups of groups
SELECT window_end, MAX(n) AS n FROM (SELECT symbol, window_start, window_end, COUNT(*) AS n FROM trades [HOP 5 MINUTES EVERY 1 MINUTE] GROUP BY symbol, window_start, window_end) GROUP BY window_start, window_end EMIT FINAL
=>
Project  window_end, n                                            MONOTONIC
  FinalRows  at window_end                                        MONOTONIC
    Project  window_end, MAX(n) AS n                              WK
      GroupBy  window_start, window_end: MAX(n)                   WK
        Project  symbol, window_start, window_end, COUNT(*) AS n  WK
          GroupBy  symbol, window_start, window_end: COUNT(*)     WK
            Windowed  HOP 5 MINUTES EVERY 1 MINUTE                WK
              StreamScan  trades [RANGE 5 MINUTES]                WKS
==>
Project  window_end, n                                            MONOTONIC
  FinalRows  at window_end                                        MONOTONIC
    Project  window_end, MAX(n) AS n                              WK
      GroupBy  window_start, window_end: MAX(n)                   WK
        Project  symbol, window_start, window_end, COUNT(*) AS n  WKS
          FinalRows  just before window_end                       WKS
            GroupBy  symbol, window_start, window_end: COUNT(*)   WK
              Windowed  HOP 5 MINUTES EVERY 1 MINUTE              WK
                StreamScan  trades [RANGE 5 MINUTES]              WKS
----------
-- with rows that have no windows between fixed instants
SELECT q.symbol, a.n FROM quotes [RANGE 1 HOUR] AS q, (SELECT symbol, COUNT(*) AS n FROM trades [TUMBLE 1 MINUTE] GROUP BY symbol) AS a WHERE a.symbol = q.symbol EMIT FINAL
=>
Project  symbol, n                                             MONOTONIC
  FinalRows  at window_end                                     MONOTONIC
    Project  q.symbol, a.n, window_end                         WK
      Filter  (a.symbol = q.symbol)                            WK
        Project  ts, symbol, bid, size, symbol, n, window_end  WK
          Product                                              WK
            StreamScan  quotes [RANGE 1 HOUR]                  WKS
            Project  symbol, COUNT(*) AS n, window_end         WK
              Project  symbol, COUNT(*), window_end            WK
                GroupBy  symbol, window_end: COUNT(*)          WK
                  Windowed  TUMBLE 1 MINUTE                    WKS
                    StreamScan  trades [RANGE 1 MINUTE]        WKS
==>
Project  symbol, n                                             MONOTONIC
  FinalRows  at window_end                                     MONOTONIC
    Project  q.symbol, a.n, window_end                         WK
      Filter  (a.symbol = q.symbol)                            WK
        Project  ts, symbol, bid, size, symbol, n, window_end  WK
          Product                                              WK
            StreamScan  quotes [RANGE 1 HOUR]                  WKS
            Project  symbol, COUNT(*) AS n, window_end         WKS
              Project  symbol, COUNT(*), window_end            WKS
                FinalRows  just before window_end              WKS
                  GroupBy  symbol, window_end: COUNT(*)        WK
                    Windowed  TUMBLE 1 MINUTE                  WKS
                      StreamScan  trades [RANGE 1 MINUTE]      WKS
----------
-- groups alone are computed when windows end
SELECT symbol, COUNT(*) AS n FROM trades [TUMBLE 1 MINUTE] GROUP BY symbol EMIT FINAL
=>
Project  symbol, n                               MONOTONIC
  FinalRows  at window_end                       MONOTONIC
    Project  symbol, COUNT(*) AS n, window_end   WK
      Project  symbol, COUNT(*), window_end      WK
        GroupBy  symbol, window_end: COUNT(*)    WK
          Windowed  TUMBLE 1 MINUTE              WKS
            StreamScan  trades [RANGE 1 MINUTE]  WKS
==>
(unchanged)
----------
-- every change is wanted
SELECT window_end, MAX(n) AS n FROM (SELECT symbol, window_end, COUNT(*) AS n FROM trades [TUMBLE 1 MINUTE] GROUP BY symbol, window_end) GROUP BY window_end EMIT CHANGES
=>
Project  window_end, MAX(n) AS n                WK
  GroupBy  window_end: MAX(n)                   WK
    Project  symbol, window_end, COUNT(*) AS n  WK
      GroupBy  symbol, window_end: COUNT(*)     WK
        Windowed  TUMBLE 1 MINUTE               WKS
          StreamScan  trades [RANGE 1 MINUTE]   WKS
==>
(unchanged)
----------
-- the windows behind EXISTS end at other times
SELECT a.symbol, a.n FROM (SELECT symbol, COUNT(*) AS n FROM trades [TUMBLE 1 MINUTE] GROUP BY symbol) AS a WHERE symbol IN (SELECT symbol FROM quotes [TUMBLE 7 MINUTES] GROUP BY symbol) EMIT FINAL
=>
Project  symbol, n                                   MONOTONIC
  FinalRows  at window_end                           MONOTONIC
    Project  symbol, n, window_end                   STR
      SemiJoin  a.symbol = symbol                    STR
        Project  symbol, COUNT(*) AS n, window_end   WK
          Project  symbol, COUNT(*), window_end      WK
            GroupBy  symbol, window_end: COUNT(*)    WK
              Windowed  TUMBLE 1 MINUTE              WKS
                StreamScan  trades [RANGE 1 MINUTE]  WKS
        Project  symbol                              WK
          GroupBy  symbol                            WK
            Windowed  TUMBLE 7 MINUTES               WKS
              StreamScan  quotes [RANGE 7 MINUTES]   WKS
==>
Project  symbol, n                                     MONOTONIC
  FinalRows  at window_end                             MONOTONIC
    Project  symbol, n, window_end                     STR
      SemiJoin  a.symbol = symbol                      STR
        Project  symbol, COUNT(*) AS n, window_end     WKS
          Project  symbol, COUNT(*), window_end        WKS
            FinalRows  just before window_end          WKS
              GroupBy  symbol, window_end: COUNT(*)    WK
                Windowed  TUMBLE 1 MINUTE              WKS
                  StreamScan  trades [RANGE 1 MINUTE]  WKS
        Project  symbol                                WK
          GroupBy  symbol                              WK
            Windowed  TUMBLE 7 MINUTES                 WKS
              StreamScan  quotes [RANGE 7 MINUTES]     WKS
----------
-- an aggregate of the ends of windows
SELECT window_end, MAX(n) AS n FROM (SELECT symbol, window_end, MAX(window_end) AS n FROM trades [TUMBLE 1 MINUTE] GROUP BY symbol, window_end) GROUP BY window_end EMIT FINAL
=>
Project  window_end, n                                     MONOTONIC
  FinalRows  at window_end                                 MONOTONIC
    Project  window_end, MAX(n) AS n                       WK
      GroupBy  window_end: MAX(n)                          WK
        Project  symbol, window_end, MAX(window_end) AS n  WK
          GroupBy  symbol, window_end: MAX(window_end)     WK
            Windowed  TUMBLE 1 MINUTE                      WKS
              StreamScan  trades [RANGE 1 MINUTE]          WKS
==>
(unchanged)
----------
-- groups are ranked once, when their window ends
SELECT symbol, n FROM (SELECT symbol, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY COUNT(*) DESC) AS place FROM trades [HOP 5 MINUTES EVERY 1 MINUTE] GROUP BY symbol, window_start, window_end) AS q WHERE place <= 3
=>
Project  symbol, n                                                                          MONOTONIC
  FinalRows  at window_end                                                                  MONOTONIC
    Project  symbol, n, window_end                                                          STR
      Filter  (place <= 3)                                                                  STR
        Project  symbol, COUNT(*) AS n, row_number() AS place, window_end                   STR
          Over  PARTITION BY window_start, window_end ORDER BY COUNT(*) DESC: row_number()  STR
            GroupBy  symbol, window_start, window_end: COUNT(*)                             WK
              Windowed  HOP 5 MINUTES EVERY 1 MINUTE                                        WK
                StreamScan  trades [RANGE 5 MINUTES]                                        WKS
==>
Project  symbol, n                                                                          MONOTONIC
  FinalRows  at window_end                                                                  MONOTONIC
    Project  symbol, n, window_end                                                          STR
      Filter  (place <= 3)                                                                  STR
        Project  symbol, COUNT(*) AS n, row_number() AS place, window_end                   STR
          Over  PARTITION BY window_start, window_end ORDER BY COUNT(*) DESC: row_number()  STR
            FinalRows  just before window_end                                               WKS
              GroupBy  symbol, window_start, window_end: COUNT(*)                           WK
                Windowed  HOP 5 MINUTES EVERY 1 MINUTE                                      WK
                  StreamScan  trades [RANGE 5 MINUTES]                                      WKS
----------
