SELECT price FROM trades WHERE TRUE
=>
Project  price                      MONOTONIC
  Filter  True                      MONOTONIC
    StreamScan  trades [UNBOUNDED]  MONOTONIC
==>
Project  price                    MONOTONIC
  StreamScan  trades [UNBOUNDED]  MONOTONIC
----------
SELECT price FROM trades WHERE price > 1 AND TRUE AND price > 1
=>
Project  price                                        MONOTONIC
  Filter  ((price > 1.0) AND True AND (price > 1.0))  MONOTONIC
    StreamScan  trades [UNBOUNDED]                    MONOTONIC
==>
Project  price                      MONOTONIC
  Filter  (price > 1.0)             MONOTONIC
    StreamScan  trades [UNBOUNDED]  MONOTONIC
----------
-- FALSE and NULL are no TRUE
SELECT price FROM trades WHERE FALSE
=>
Project  price                      MONOTONIC
  Filter  False                     MONOTONIC
    StreamScan  trades [UNBOUNDED]  MONOTONIC
==>
(unchanged)
----------
SELECT price FROM trades WHERE NULL
=>
Project  price                      MONOTONIC
  Filter  NULL                      MONOTONIC
    StreamScan  trades [UNBOUNDED]  MONOTONIC
==>
(unchanged)
----------
-- nor is x = x, which is NULL for NULL
SELECT price FROM trades WHERE price = price
=>
Project  price                      MONOTONIC
  Filter  (price = price)           MONOTONIC
    StreamScan  trades [UNBOUNDED]  MONOTONIC
==>
(unchanged)
----------
-- TRUE in OR, unless the rest can fail
SELECT price FROM trades WHERE price > 1 OR TRUE
=>
Project  price                      MONOTONIC
  Filter  ((price > 1.0) OR True)   MONOTONIC
    StreamScan  trades [UNBOUNDED]  MONOTONIC
==>
Project  price                    MONOTONIC
  StreamScan  trades [UNBOUNDED]  MONOTONIC
----------
SELECT price FROM trades WHERE 1 / price > 1 OR TRUE
=>
Project  price                             MONOTONIC
  Filter  (((1.0 / price) > 1.0) OR True)  MONOTONIC
    StreamScan  trades [UNBOUNDED]         MONOTONIC
==>
(unchanged)
----------
