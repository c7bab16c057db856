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

CREATE QUERY in_windows AS SELECT k, window_end, COUNT(*) AS n, SUM(v) AS v, AVG(x) AS x,
    MIN(v) AS least, MAX(s) AS most, STDDEV(x) AS d, COUNT(DISTINCT s) AS s
  FROM d [TUMBLE 10 SECONDS] GROUP BY k, window_start, window_end;
CREATE QUERY in_hops AS SELECT s, window_end, COUNT(*) AS n, AVG(v) AS v, MAX(x) AS x,
    STDDEV(v) AS d, SUM(x) AS total, STDDEV(x) AS deviation
  FROM d [HOP 10 SECONDS EVERY 5 SECONDS] GROUP BY s, window_start, window_end;
CREATE QUERY middle_of_hops AS SELECT k, MEDIAN(v) AS v, COUNT(DISTINCT s) AS s
  FROM d [HOP 10 SECONDS EVERY 5 SECONDS] GROUP BY k, window_start, window_end;
CREATE QUERY busiest AS SELECT k, COUNT(*) AS n FROM d [TUMBLE 10 SECONDS]
  GROUP BY k ORDER BY n DESC LIMIT 3;
CREATE QUERY visits AS SELECT k, window_start, window_end, COUNT(*) AS n, MAX(v) AS v
  FROM d [SESSION 5 SECONDS BY k] GROUP BY k, window_start, window_end;
CREATE QUERY earlier AS SELECT k, v - LAG(v) OVER w AS more, LAG(s) IGNORE NULLS OVER w AS known,
    ROW_NUMBER() OVER w AS number, FIRST_VALUE(x) OVER w AS x, SUM(v) OVER w AS total,
    AVG(x) OVER (w ROWS 2 PRECEDING) AS three, MIN(v) OVER (w ROWS 9 PRECEDING) AS least,
    MAX(x) OVER (w RANGE INTERVAL '5' SECOND PRECEDING) AS most,
    COUNT(*) OVER (w RANGE INTERVAL '5' SECOND PRECEDING) AS n
  FROM d WINDOW w AS (PARTITION BY k ORDER BY ts);
CREATE QUERY neighbours AS SELECT k, LAG(v) OVER w AS v, LEAD(s) OVER w AS s, RANK() OVER w AS rank,
    x - AVG(x) OVER (PARTITION BY k) AS away, SUM(v) OVER (w ROWS 2 PRECEDING) AS three
  FROM e [RANGE 5 SECONDS] WINDOW w AS (PARTITION BY k ORDER BY ts);
CREATE QUERY latest AS SELECT k, v, s FROM e
  QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) = 1;
CREATE QUERY latest_in_window AS SELECT DISTINCT ON (k) k, v FROM e [RANGE 5 SECONDS]
  ORDER BY k, ts DESC;
CREATE QUERY highest AS SELECT k, v FROM e [RANGE 5 SECONDS] ORDER BY v DESC LIMIT 3;
CREATE QUERY pattern AS SELECT * FROM e MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
  MEASURES FIRST(up.v) AS first_v, LAST(up.x) AS last_x, COUNT(up.v) AS n, SUM(up.v) AS v, done.s AS s
  AFTER MATCH SKIP PAST LAST ROW PATTERN (up{2,} done) WITHIN INTERVAL 1 MINUTE
  DEFINE up AS up.v > PREV(up.v), done AS done.s = 's1' OR done.x < 2.5) AS m;
CREATE QUERY pattern_rows AS SELECT * FROM e MATCH_RECOGNIZE (PARTITION BY s ORDER BY ts
  MEASURES CLASSIFIER() AS c ALL ROWS PER MATCH PATTERN (one two+? three) WITHIN INTERVAL 5 SECONDS
  DEFINE one AS one.v > 1, three AS three.v > one.v) AS m;
CREATE QUERY ordered AS SELECT k, FIRST(v) AS v, LAST(s) AS s, MIN_BY(s, x) AS least,
    MAX_BY(v, x) AS most, MAX(s) AS text, MIN(ts) AS since, MODE(s) AS mode
  FROM f [RANGE 5 SECONDS] GROUP BY k;
CREATE QUERY listed AS SELECT k, COLLECT_LIST(v) AS vs, STRING_AGG(s, ',') AS texts,
    ARRAY_AGG(x) AS xs FROM f [RANGE 5 SECONDS] GROUP BY k;
CREATE QUERY correlated AS SELECT CORR(v, x) AS c, REGR_SLOPE(v, x) AS slope, VARIANCE(v) AS d,
    MEDIAN(v) AS middle FROM f [RANGE 5 SECONDS];
CREATE QUERY paid AS SELECT k, SUM(CAST(x AS DECIMAL(18, 2))) AS x, AVG(CAST(x AS DECIMAL(10, 2))) AS a
  FROM f [RANGE 5 SECONDS] GROUP BY k;
CREATE QUERY parsed AS SELECT get_json_object(s, '$.a.b') AS b, get_json_object(s, '$.list[0]') AS l,
    regexp_extract(s, 's(.)', 1) AS digit, upper(s) AS u FROM f [RANGE 5 SECONDS];
CREATE QUERY near AS SELECT g.k, h.v FROM g JOIN h
  ON g.k = h.k AND g.ts BETWEEN h.ts - INTERVAL '5' SECOND AND h.ts + INTERVAL '1' SECOND;
CREATE QUERY unanswered AS SELECT g.k, g.v FROM g WHERE NOT EXISTS (SELECT 1 FROM h
  WHERE h.k = g.k AND h.ts BETWEEN g.ts AND g.ts + INTERVAL '5' SECOND);
CREATE QUERY answered AS SELECT k, v FROM g [RANGE 5 SECONDS]
  WHERE EXISTS (SELECT 1 FROM h [RANGE 5 SECONDS] WHERE h.k = g.k AND h.v > g.v);
CREATE QUERY common AS SELECT k, s FROM g [RANGE 5 SECONDS] INTERSECT
  SELECT k, s FROM h [RANGE 5 SECONDS];
CREATE QUERY others AS SELECT k FROM g [RANGE 5 SECONDS] EXCEPT ALL
  SELECT k FROM h [RANGE 5 SECONDS];
CREATE QUERY far AS SELECT k, COUNT(*) AS n FROM h [RANGE 5 SECONDS] WHERE x BETWEEN 1.5 AND 7.5
  GROUP BY k;
CREATE QUERY farther AS SELECT k, v FROM h [RANGE 9 SECONDS] WHERE x > 3.5 AND s LIKE 's%';
-- Queries that differ in their constants and windows only run together.
CREATE QUERY rule AS SELECT k, COUNT(*) AS n, SUM(v) AS v, AVG(x) AS x FROM h [RANGE 5 SECONDS]
  WHERE v > 3 GROUP BY k HAVING COUNT(*) > 2;
CREATE QUERY rule_too AS SELECT k, COUNT(*) AS n, SUM(v) AS v, AVG(x) AS x FROM h [RANGE 7 SECONDS]
  WHERE v > 5 GROUP BY k HAVING COUNT(*) > 3;
CREATE QUERY in_box AS SELECT k FROM h [RANGE 5 SECONDS]
  WHERE v BETWEEN 3 AND 7 AND x BETWEEN 2.5 AND 8.5;
CREATE QUERY in_box_too AS SELECT k FROM h [RANGE 5 SECONDS]
  WHERE v BETWEEN 4 AND 9 AND x BETWEEN 1.5 AND 6.5;
CREATE QUERY missing AS SELECT k, v FROM g [RANGE 5 SECONDS]
  WHERE v > 2 AND NOT EXISTS (SELECT 1 FROM h [RANGE 3 SECONDS] WHERE h.k = g.k);
CREATE QUERY missing_too AS SELECT k, v FROM g [RANGE 6 SECONDS]
  WHERE v > 3 AND NOT EXISTS (SELECT 1 FROM h [RANGE 4 SECONDS] WHERE h.k = g.k);
