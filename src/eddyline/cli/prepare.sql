-- The statements of `eddyline prepare`: each kind of operator once.

CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT, x DOUBLE, s STRING)
  TIMESTAMP BY ts LATENESS 2 SECONDS WITH (source = 'parquet', path = 'a');
CREATE STREAM b (ts TIMESTAMP, k BIGINT, v BIGINT, x DOUBLE, s STRING)
  TIMESTAMP BY ts LATENESS 2 SECONDS WITH (source = 'parquet', path = 'b');
CREATE STREAM c (ts TIMESTAMP, k BIGINT, v BIGINT, x DOUBLE, s STRING)
  TIMESTAMP BY ts LATENESS 2 SECONDS WITH (source = 'parquet', path = 'c');
-- Queries over subsets of a, b and c share an eddy; those over other streams are alone.
CREATE STREAM d (ts TIMESTAMP, k BIGINT, v BIGINT, x DOUBLE, s STRING)
  TIMESTAMP BY ts LATENESS 2 SECONDS WITH (source = 'parquet', path = 'd');
CREATE STREAM e (ts TIMESTAMP, k BIGINT, v BIGINT, x DOUBLE, s STRING)
  TIMESTAMP BY ts LATENESS 2 SECONDS WITH (source = 'parquet', path = 'e');
CREATE STREAM f (ts TIMESTAMP, k BIGINT, v BIGINT, x DOUBLE, s STRING)
  TIMESTAMP BY ts LATENESS 2 SECONDS WITH (source = 'parquet', path = 'f');
CREATE STREAM g (ts TIMESTAMP, k BIGINT, v BIGINT, x DOUBLE, s STRING)
  TIMESTAMP BY ts LATENESS 2 SECONDS WITH (source = 'parquet', path = 'g');
CREATE STREAM h (ts TIMESTAMP, k BIGINT, v BIGINT, x DOUBLE, s STRING)
  TIMESTAMP BY ts LATENESS 2 SECONDS WITH (source = 'parquet', path = 'h');
CREATE TABLE t (k BIGINT, s STRING) WITH (source = 'parquet', path = 'a');

CREATE QUERY filtered AS SELECT ts, k, s FROM a [RANGE 1 MINUTE] WHERE s IN ('s1', 's2') AND v > 3;
CREATE QUERY filtered_too AS SELECT ts, k, s FROM a [RANGE 1 MINUTE] WHERE s IN ('s3') AND v > 5
  WITH (sink = 'parquet', path = 'filtered');
CREATE QUERY joined AS SELECT a.k, b.v FROM a [RANGE 5 SECONDS], b [RANGE 9 SECONDS]
  WHERE a.k = b.k AND a.s = b.s WITH (sink = 'parquet', path = 'joined');
CREATE QUERY joined_too AS SELECT a.k, b.v FROM a [RANGE 7 SECONDS], b [RANGE 9 SECONDS]
  WHERE a.k = b.k AND a.s = b.s AND a.v > 2 WITH (sink = 'csv', path = 'joined_too');
CREATE QUERY with_itself AS SELECT l.k, r.v FROM c [RANGE 5 SECONDS] AS l, c [RANGE 3 SECONDS] AS r
  WHERE l.k = r.k AND l.s = 's1' AND r.s = 's2';
CREATE QUERY three AS SELECT a.k, b.v, c.x
  FROM a [RANGE 5 SECONDS], b [RANGE 5 SECONDS], c [RANGE 3 SECONDS]
  WHERE a.k = b.k AND b.k = c.k AND a.s = b.s AND b.s = c.s;
CREATE QUERY of_texts AS SELECT a.v, c.x FROM a [RANGE 2 SECONDS], c [RANGE 4 SECONDS]
  WHERE a.s = c.s;
CREATE QUERY three_alone AS SELECT d.v, e.x, f.k
  FROM d [RANGE 3 SECONDS], e [RANGE 5 SECONDS], f [RANGE 2 SECONDS]
  WHERE d.k = e.k AND d.s = e.s AND e.k = f.k AND e.s = f.s;
CREATE QUERY two_alone AS SELECT g.v, h.x FROM g [RANGE 2 SECONDS], h [RANGE 4 SECONDS]
  WHERE g.s = h.s;
CREATE QUERY theta AS SELECT a.v FROM a [RANGE 2 SECONDS], b [RANGE 2 SECONDS] WHERE a.v < b.v;
CREATE QUERY with_table AS SELECT t.s, b.v FROM b [RANGE 4 SECONDS], t WHERE b.k = t.k;
CREATE QUERY grouped AS SELECT s, COUNT(*) AS n, SUM(v) AS v, AVG(x) AS x, MAX(v) AS most,
    MIN(x) AS least
  FROM a [RANGE 5 SECONDS] GROUP BY s HAVING COUNT(*) >= 1;
CREATE QUERY several AS SELECT k, COUNT(DISTINCT s) AS n, STDDEV(x) AS d
  FROM c [RANGE 5 SECONDS] GROUP BY k EMIT CHANGES;
CREATE QUERY pairs AS SELECT DISTINCT k, s FROM b [RANGE 5 SECONDS] EMIT CHANGES;
CREATE QUERY ranked AS SELECT k, v FROM c [RANGE 5 SECONDS]
  QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) <= 2;
CREATE QUERY middle AS SELECT k, MEDIAN(x) AS x FROM b [RANGE 5 SECONDS] GROUP BY k;
CREATE QUERY nearest AS SELECT g.k, h.v FROM g ASOF JOIN h ON g.k = h.k AND g.ts >= h.ts;
CREATE QUERY last AS SELECT k, COUNT(*) AS n FROM c [PARTITION BY k ROWS 5] WHERE v > 1 GROUP BY k;
CREATE QUERY recent AS SELECT v FROM c [ROWS 10];
CREATE QUERY either AS SELECT k, v FROM a [RANGE 1 SECOND] UNION ALL
  SELECT k, v FROM b [RANGE 1 SECOND];
CREATE QUERY without AS SELECT k, v FROM a [RANGE 5 SECONDS]
  WHERE NOT EXISTS (SELECT 1 FROM b [RANGE 5 SECONDS] WHERE b.k = a.k);
CREATE QUERY kept AS SELECT a.k, b.v FROM a [RANGE 5 SECONDS] LEFT JOIN b [RANGE 5 SECONDS]
  ON a.k = b.k;
CREATE QUERY daily AS SELECT t.s, COUNT(*) AS n, AVG(a.v) AS v
  FROM a [RANGE 20 SECONDS] JOIN t ON a.k = t.k GROUP BY t.s EMIT SNAPSHOT EVERY 10 SECONDS;
CREATE QUERY merged AS SELECT COUNT(*) AS n, SUM(v) AS v, AVG(x) AS x, COUNT(DISTINCT s) AS s
  FROM a [RANGE 5 SECONDS];
