CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (msx)) TIMESTAMP BY t
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (timestamp_millis(ms)), u BIGINT AS (unix_millis(t) + 1)) TIMESTAMP BY t
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS timestamp_millis(ms)) TIMESTAMP BY t
----------
CREATE STREAM s (ms BIGINT, t AS (timestamp_millis(ms))) TIMESTAMP BY t
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS ()) TIMESTAMP BY t
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (sum(ms))) TIMESTAMP BY t
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS ((SELECT 1))) TIMESTAMP BY t
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (now())) TIMESTAMP BY t
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (to_timestamp(ms))) TIMESTAMP BY t
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (ms), u TIMESTAMP AS (ms)) TIMESTAMP BY t
----------
CREATE STREAM s (ms BIGINT, x DOUBLE, c BIGINT AS (x * 2)) TIMESTAMP BY (ms)
----------
CREATE STREAM s (ms BIGINT) TIMESTAMP BY (timestamp_millis(ms)) WITH (ts_unit = 'ms')
----------
CREATE STREAM s (ms BIGINT) TIMESTAMP BY (ms / 1000)
----------
CREATE STREAM s (ms STRING) TIMESTAMP BY (ms)
----------
CREATE STREAM s (ms BOOLEAN) TIMESTAMP BY (ms)
----------
CREATE STREAM s (t TIMESTAMP AS (timestamp_millis(1))) TIMESTAMP BY t
----------
CREATE STREAM s (ms BIGINT) TIMESTAMP BY (timestamp_millis(ms) AS t)
----------
CREATE TABLE s (ms BIGINT, x BIGINT AS (ms))
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP AS (timestamp_millis(ms))) TIMESTAMP BY t LATENESS 5 SECONDS
----------
CREATE STREAM s (ms BIGINT, t TIMESTAMP GENERATED ALWAYS AS (timestamp_millis(ms))) TIMESTAMP BY t
