-- recipe: The latest reading of each device
SELECT device, MAX(ts), arg_max(temperature, ts), arg_max(humidity, ts) FROM readings
WHERE ts > tau() - INTERVAL '30 minutes' GROUP BY device

-- emitted: Climate per room
SELECT w + INTERVAL '15 minutes' AS _ts, room, w, w + INTERVAL '15 minutes', MIN(temperature), MAX(temperature), ROUND(AVG(temperature), 2)
FROM (SELECT *, time_bucket(INTERVAL '15 minutes', ts) AS w FROM readings__all) JOIN devices USING (device)
WHERE w + INTERVAL '15 minutes' <= tau() GROUP BY room, w

-- recipe: Devices without readings
SELECT device, room FROM devices WHERE device NOT IN (SELECT device FROM readings WHERE ts > tau() - INTERVAL '5 minutes')

-- recipe: A steep rise
SELECT device, arg_min(temperature, ts) AS f, arg_max(temperature, ts) AS l, COUNT(*) FROM readings
WHERE ts > tau() - INTERVAL '10 minutes' GROUP BY device HAVING l - f > 8

-- emitted: Rising without a pause
SELECT ts AS _ts, device, t0, ts, temperature - a FROM (SELECT *, LAG(ts, 3) OVER w AS t0, LAG(temperature, 3) OVER w AS a,
  LAG(temperature, 2) OVER w AS b, LAG(temperature) OVER w AS c FROM readings WINDOW w AS (PARTITION BY device ORDER BY ts))
WHERE a < b AND b < c AND c < temperature

-- recipe: A command without an answer
SELECT id, device, command, ts FROM commands WHERE ts > tau() - INTERVAL '1 hour'
  AND id NOT IN (SELECT id FROM acks WHERE ts > tau() - INTERVAL '1 hour')

-- emitted: How long devices take to answer
SELECT a.ts AS _ts, c.device, c.command, a.ts - c.ts FROM commands c JOIN acks a USING (id)
WHERE a.ts >= c.ts AND a.ts <= c.ts + INTERVAL '10 minutes'

-- emitted: The weather at the time of a reading
SELECT device, ts, temperature, (SELECT arg_max(outside, w.ts) FROM weather w WHERE w.ts <= r.ts)
FROM readings r WHERE temperature > 30

-- emitted: Times of movement
WITH s AS (SELECT *, SUM(new) OVER (PARTITION BY device ORDER BY ts) AS session FROM (SELECT device, ts,
  CASE WHEN ts - LAG(ts) OVER (PARTITION BY device ORDER BY ts) <= INTERVAL '3 minutes' THEN 0 ELSE 1 END AS new FROM motion))
SELECT MAX(ts) + INTERVAL '3 minutes' AS _ts, device, MIN(ts), MAX(ts) + INTERVAL '3 minutes', COUNT(*) FROM s
GROUP BY device, session HAVING MAX(ts) + INTERVAL '3 minutes' < tau()

-- emitted: One value per five minutes and device
SELECT w + INTERVAL '5 minutes' AS _ts, w + INTERVAL '5 minutes', device, arg_max(temperature, ts), MIN(battery)
FROM (SELECT *, time_bucket(INTERVAL '5 minutes', ts) AS w FROM readings__all) WHERE w + INTERVAL '5 minutes' <= tau() GROUP BY w, device

-- recipe: A battery that runs down
WITH r AS (SELECT device, battery AS y, epoch(date_trunc('second', ts)) AS x FROM readings WHERE ts > tau() - INTERVAL '1 hour'),
  m AS (SELECT device, AVG(x) AS mx, AVG(y) AS my FROM r GROUP BY device)
SELECT device, ROUND(3600 * SUM((x - mx) * (y - my)) / SUM((x - mx) * (x - mx)), 4), COUNT(*) FROM r JOIN m USING (device)
GROUP BY device HAVING COUNT(*) > 2

-- recipe: Consumption between two meter readings
SELECT meter, ts, kwh - LAG(kwh) OVER (PARTITION BY meter ORDER BY ts) FROM meters WHERE ts > tau() - INTERVAL '1 hour'

-- emitted: Corrected values
WITH net AS (SELECT r.ts, r.device, temperature + degrees AS t, SUM(CASE _op WHEN '+' THEN 1 ELSE -1 END) AS n FROM readings r
  JOIN offsets__all o ON o.device = r.device AND o._ts <= r.ts GROUP BY ALL)
SELECT ts AS _ts, ts, device, t FROM net, generate_series(1, n::BIGINT)

-- emitted: Average of the last quarter of an hour
SELECT ts + INTERVAL 1 MICROSECOND AS _ts, ts, device, temperature, (SELECT AVG(p.temperature) FROM readings p WHERE p.device = r.device AND p.ts <= r.ts
  AND p.ts >= r.ts - INTERVAL '15 minutes') FROM readings r

-- recipe: A function of your own
SELECT device, ts, ROUND(h, 1) FROM (SELECT *, temperature + 5.0 / 9.0 * (6.112 * exp(17.5 * temperature / (temperature + 240)) *
  humidity / 100 - 10) AS h FROM readings WHERE ts > tau() - INTERVAL '5 minutes') WHERE h > 45
