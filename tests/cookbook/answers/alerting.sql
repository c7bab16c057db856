-- emitted: A value above a threshold
SELECT ts AS _ts, ts, host, cpu FROM metrics WHERE cpu > 95

-- emitted: Thresholds from a table
SELECT m.ts AS _ts, m.ts, m.host, m.service, m.cpu, m.latency_ms FROM metrics m JOIN limits l USING (service)
WHERE m.cpu > l.max_cpu OR m.latency_ms > l.max_latency_ms

-- recipe: High average
SELECT host, AVG(cpu), COUNT(*) FROM metrics WHERE ts > tau() - INTERVAL '5 minutes' GROUP BY host
HAVING AVG(cpu) > 65 AND COUNT(*) >= 3

-- emitted: Latency percentiles per service
SELECT w + INTERVAL '10 minutes' AS _ts, w, service, quantile_cont(latency_ms, 0.5), quantile_cont(latency_ms, 0.95),
  list_sort(list(latency_ms))[CAST(ceil(0.99 * COUNT(*)) AS INT)]
FROM (SELECT *, time_bucket(INTERVAL '10 minutes', ts) AS w FROM metrics__all) WHERE w + INTERVAL '10 minutes' <= tau()
GROUP BY w, service

-- recipe: Error rate
SELECT service, SUM((level = 'ERROR')::INT) AS errors, COUNT(*) AS total, ROUND(100.0 * errors / total, 1)
FROM logs WHERE ts > tau() - INTERVAL '15 minutes' GROUP BY service HAVING errors > 0.4 * total

-- recipe: A host that went silent
SELECT host FROM heartbeats WHERE ts > tau() - INTERVAL '1 hour'
GROUP BY host HAVING MAX(ts) <= tau() - INTERVAL '5 minutes'

-- emitted: Errors after a deployment
SELECT l.ts AS _ts, d.service, d.version, l.ts, l.message FROM deploys d JOIN logs l USING (service)
WHERE l.ts >= d.ts AND l.ts <= d.ts + INTERVAL '10 minutes' AND l.level = 'ERROR'

-- emitted: Three in a row
SELECT ts AS _ts, host, first, ts, mean FROM (
  SELECT ts, host, MIN(cpu) OVER w AS least, FIRST(ts) OVER w AS first, AVG(cpu) OVER w AS mean, COUNT(*) OVER w AS n
  FROM metrics WINDOW w AS (PARTITION BY host ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)
) WHERE n = 3 AND least > 75

-- recipe: A flapping check
WITH pairs AS (SELECT "check", status <> LAG(status) OVER (PARTITION BY "check" ORDER BY ts) AS flap
  FROM checks WHERE ts > tau() - INTERVAL '30 minutes')
SELECT "check", COUNT(*) FROM pairs WHERE flap GROUP BY "check" HAVING COUNT(*) >= 8

-- recipe: Outliers
WITH recent AS (FROM metrics WHERE ts > tau() - INTERVAL '20 minutes'),
  hosts AS (SELECT host, AVG(cpu) AS mean, stddev_samp(cpu) AS dev FROM recent GROUP BY host)
SELECT host, ts, cpu FROM recent JOIN hosts USING (host) WHERE cpu > mean + 1.5 * dev

-- recipe: Short against long
SELECT service, AVG(latency_ms) FILTER (WHERE ts > tau() - INTERVAL '5 minutes') AS short, AVG(latency_ms) AS long
FROM metrics WHERE ts > tau() - INTERVAL '1 hour' GROUP BY service HAVING short > 1.2 * long

-- recipe: Alerts that are not silenced
SELECT DISTINCT host FROM logs ANTI JOIN silenced USING (host) WHERE ts > tau() - INTERVAL '10 minutes' AND level = 'ERROR'

-- emitted: A report every ten minutes
WITH ticks AS (SELECT UNNEST(generate_series(TIMESTAMP '2026-03-02 08:00:00', tau(), INTERVAL '10 minutes')) AS tick),
  counts AS (SELECT tick, host, COUNT(*) AS errors FROM ticks JOIN logs ON ts <= tick AND ts > tick - INTERVAL '30 minutes'
    WHERE level = 'ERROR' GROUP BY tick, host)
SELECT tick AS _ts, host, errors FROM counts QUALIFY ROW_NUMBER() OVER (PARTITION BY tick ORDER BY errors DESC, host) <= 2

-- emitted: Moving average
SELECT ts AS _ts, ts, host, cpu, AVG(cpu) OVER (PARTITION BY host ORDER BY ts ROWS BETWEEN 4 PRECEDING AND CURRENT ROW) FROM metrics
