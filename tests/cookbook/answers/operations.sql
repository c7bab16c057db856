-- recipe: Orders without payment
SELECT id, customer, amount FROM orders o WHERE ts > tau() - INTERVAL '1 hour' AND NOT EXISTS (SELECT 1 FROM payments p
  WHERE p.order_id = o.id AND p.ts > tau() - INTERVAL '1 hour')

-- emitted: From order to payment
SELECT p.ts AS _ts, o.id, p.method, p.ts - o.ts FROM orders o JOIN payments p ON p.order_id = o.id AND p.ts >= o.ts
  AND p.ts <= o.ts + INTERVAL '30 minutes'

-- emitted: Late shipments
SELECT s.ts AS _ts, o.id, s.carrier, o.ts, s.ts FROM orders o JOIN shipments s ON s.order_id = o.id
WHERE s.ts - o.ts > INTERVAL '40 minutes' AND s.ts - o.ts < INTERVAL '2 hours'

-- emitted: Stock
SELECT ts AS _ts, sku, depot, ts, SUM(qty) OVER w, MIN(qty) OVER w FROM moves WINDOW w AS (PARTITION BY sku, depot ORDER BY ts)

-- recipe: Where a parcel is
SELECT parcel, arg_max(depot, ts), arg_max(state, ts) FROM scans GROUP BY parcel

-- recipe: Parcels by state
SELECT state, COUNT(*) FROM (SELECT parcel, arg_max(state, ts) AS state FROM scans WHERE ts > tau() - INTERVAL '2 hours'
  GROUP BY parcel) GROUP BY state

-- emitted: Sales of the hour so far
SELECT e AS _ts, city, h, e, SUM(amount) FROM (SELECT city, amount, ts, time_bucket(INTERVAL '1 hour', ts) AS h FROM orders__all) o,
  (SELECT UNNEST([15, 30, 45, 60]) AS m), LATERAL (SELECT h + m * INTERVAL '1 minute' AS e) WHERE ts < e AND e <= tau()
GROUP BY city, h, e

-- emitted: Larger than usual
SELECT ts AS _ts, id, customer, amount FROM (SELECT *, AVG(amount) OVER (PARTITION BY customer ORDER BY ts
  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS usual FROM orders) WHERE amount > 1.5 * usual

-- recipe: Orders on hold
SELECT id, customer FROM orders WHERE ts > tau() - INTERVAL '30 minutes' AND customer IN (SELECT customer FROM holds)

-- emitted: Returned after a failure
SELECT ts AS _ts, parcel, ts, depot FROM (SELECT *, LAG(state) OVER (PARTITION BY parcel ORDER BY ts) AS before FROM scans)
WHERE state = 'returned' AND before = 'failed'

-- recipe: What is done for an order
SELECT o.id, p.method, s.carrier FROM (FROM orders WHERE ts > tau() - INTERVAL '1 hour') o
LEFT JOIN (FROM payments WHERE ts > tau() - INTERVAL '1 hour') p ON p.order_id = o.id
LEFT JOIN (FROM shipments WHERE ts > tau() - INTERVAL '1 hour') s ON s.order_id = o.id

-- recipe: Work of the regions
SELECT region, depot, COUNT(*), histogram(state) FROM scans JOIN depots USING (depot)
WHERE ts > tau() - INTERVAL '20 minutes' GROUP BY GROUPING SETS ((region, depot), (region))
