-- emitted: Visits
WITH s AS (SELECT *, SUM(new) OVER (PARTITION BY visitor ORDER BY ts) AS visit FROM (SELECT *,
  CASE WHEN ts - LAG(ts) OVER (PARTITION BY visitor ORDER BY ts) <= INTERVAL '5 minutes' THEN 0 ELSE 1 END AS new FROM page_views))
SELECT MAX(ts) + INTERVAL '5 minutes' AS _ts, visitor, MIN(ts), MAX(ts) + INTERVAL '5 minutes', COUNT(*), arg_min(url, ts),
  arg_max(url, ts), COUNT(DISTINCT url) FROM s GROUP BY visitor, visit HAVING MAX(ts) + INTERVAL '5 minutes' < tau()

-- emitted: Bounces
SELECT ts + INTERVAL '5 minutes' AS _ts, visitor, ts, url FROM (SELECT *, LAG(ts) OVER w AS before, LEAD(ts) OVER w AS after
  FROM page_views WINDOW w AS (PARTITION BY visitor ORDER BY ts)) WHERE ts + INTERVAL '5 minutes' < tau()
AND (before IS NULL OR before + INTERVAL '5 minutes' < ts) AND (after IS NULL OR after > ts + INTERVAL '5 minutes')

-- recipe: Most viewed pages
SELECT url, COUNT(*) FROM page_views WHERE ts > tau() - INTERVAL '10 minutes' GROUP BY url ORDER BY COUNT(*) DESC, url LIMIT 3

-- recipe: Best sellers of each category
WITH sold AS (SELECT category, product, SUM(amount) AS revenue FROM purchases JOIN products USING (product)
  WHERE ts > tau() - INTERVAL '1 hour' GROUP BY category, product)
SELECT * FROM sold a WHERE 2 > (SELECT COUNT(*) FROM sold b WHERE b.category = a.category
  AND (b.revenue > a.revenue OR b.revenue = a.revenue AND b.product < a.product))

-- emitted: Each event once
SELECT MIN(ts) AS _ts, MIN(ts), event_id, any_value(visitor), any_value(amount) FROM events GROUP BY event_id

-- recipe: Visitors without copies
SELECT variant, COUNT(DISTINCT visitor), SUM(amount), AVG(amount) FROM (SELECT event_id, any_value(visitor) AS visitor,
  any_value(variant) AS variant, any_value(amount) AS amount FROM events WHERE ts > tau() - INTERVAL '1 hour' GROUP BY event_id)
GROUP BY variant

-- emitted: A funnel
WITH RECURSIVE carts AS (SELECT v.visitor, v.ts AS v, MIN(c.ts) AS c FROM actions v JOIN actions c ON c.visitor = v.visitor
    AND c.ts > v.ts AND c.action = 'cart' WHERE v.action = 'view' GROUP BY v.visitor, v.ts),
  whole AS (SELECT t.visitor, v, c, MIN(b.ts) AS b FROM carts t JOIN actions b ON b.visitor = t.visitor AND b.ts > c
    AND b.action = 'buy' GROUP BY t.visitor, v, c HAVING MIN(b.ts) <= v + INTERVAL '30 minutes'),
  chain AS (SELECT visitor, MIN(v) AS v, MIN(c) AS c, MIN(b) AS b FROM whole GROUP BY visitor
    UNION ALL SELECT visitor, v, c, b FROM (SELECT w.*, ROW_NUMBER() OVER (PARTITION BY w.visitor ORDER BY w.v) AS n
      FROM chain p JOIN whole w ON w.visitor = p.visitor AND w.v > p.b) WHERE n = 1)
SELECT b AS _ts, visitor, v, c, b FROM chain

-- recipe: How far visitors get
WITH did AS (SELECT DISTINCT visitor, action FROM actions WHERE ts > tau() - INTERVAL '1 hour')
SELECT SUM((action = 'view')::INT), SUM((action = 'cart')::INT), SUM((action = 'buy')::INT) FROM did

-- recipe: Abandoned carts
SELECT c.visitor, c.product, c.ts FROM actions c LEFT JOIN actions b ON b.visitor = c.visitor AND b.product = c.product
  AND b.ts > c.ts AND b.action = 'buy' WHERE c.action = 'cart' AND c.ts > tau() - INTERVAL '30 minutes' AND b.ts IS NULL

-- emitted: Last click
SELECT p.ts AS _ts, p.id, p.visitor, amount, arg_max(campaign, a.ts), p.ts - MAX(a.ts) FROM purchases p LEFT JOIN ad_clicks a
ON a.visitor = p.visitor AND a.ts < p.ts AND a.ts > p.ts - INTERVAL '1 hour' GROUP BY p.ts, p.id, p.visitor, amount

-- recipe: First click
SELECT id, amount, arg_min(campaign, a.ts), COUNT(*) FROM purchases p JOIN ad_clicks a ON a.visitor = p.visitor AND a.ts <= p.ts
AND a.ts >= p.ts - INTERVAL '1 hour' WHERE p.ts > tau() - INTERVAL '30 minutes' GROUP BY id, amount

-- recipe: Shared revenue
WITH pairs AS (SELECT p.id, amount, campaign FROM purchases p JOIN ad_clicks a ON a.visitor = p.visitor AND a.ts <= p.ts
  AND a.ts >= p.ts - INTERVAL '1 hour' WHERE p.ts > tau() - INTERVAL '30 minutes')
SELECT campaign, SUM(amount / n) FROM pairs JOIN (SELECT id, COUNT(*) AS n FROM pairs GROUP BY id) USING (id) GROUP BY campaign

-- emitted: The page before
SELECT w + INTERVAL '30 minutes' AS _ts, w + INTERVAL '30 minutes', before, url, COUNT(*) FROM (SELECT url,
  time_bucket(INTERVAL '30 minutes', ts) AS w, LAG(url) OVER (PARTITION BY visitor ORDER BY ts) AS before FROM page_views__all)
WHERE before IS NOT NULL AND w + INTERVAL '30 minutes' <= tau() GROUP BY w, before, url HAVING COUNT(*) > 1

-- emitted: Returning visitors
SELECT ts AS _ts, ts, visitor, ts - before FROM (SELECT *, (SELECT MAX(o.ts) FROM page_views o WHERE o.visitor = v.visitor
  AND o.ts < v.ts) AS before FROM page_views v) WHERE before < ts - INTERVAL '10 minutes'

-- emitted: Reach during the hour
WITH steps AS (SELECT UNNEST(generate_series(TIMESTAMP '2026-03-02 08:10:00', TIMESTAMP '2026-03-02 12:00:00',
  INTERVAL '10 minutes')) AS e)
SELECT e AS _ts, device, w, e, COUNT(DISTINCT visitor) FROM (SELECT e, date_trunc('hour', e - INTERVAL '1 second') AS w FROM steps)
JOIN page_views__all ON ts >= w AND ts < e WHERE e <= tau() GROUP BY device, w, e

-- recipe: Campaigns in addresses
SELECT split_part(url, 'utm_source=', 2), regexp_replace(url, '[?].*', ''), COUNT(*) FROM page_views ANTI JOIN staff USING (visitor)
WHERE ts > tau() - INTERVAL '30 minutes' AND contains(url, 'utm_source=') GROUP BY ALL
