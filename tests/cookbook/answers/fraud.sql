-- recipe: Payments in quick succession
SELECT card, COUNT(*), SUM(amount) FROM payments WHERE ts >= tau() - INTERVAL '10 minutes' GROUP BY card HAVING COUNT(*) >= 4

-- emitted: Two countries
SELECT b.ts AS _ts, a.card, a.country, b.country, a.ts, b.ts FROM payments a, payments b
WHERE a.card = b.card AND a.country <> b.country AND b.ts - a.ts > INTERVAL 0 SECONDS AND b.ts - a.ts <= INTERVAL '15 minutes'

-- emitted: A small payment, then a large one
SELECT ts AS _ts, card, before, ts, amount FROM (SELECT *, LAG(ts) OVER w AS before, LAG(amount) OVER w AS less
  FROM payments WINDOW w AS (PARTITION BY card ORDER BY ts))
WHERE less < 20 AND amount > 300 AND ts <= before + INTERVAL '20 minutes'

-- emitted: Guessed passwords
WITH runs AS (SELECT account, ts, ok, MAX(ts) FILTER (WHERE ok) OVER (PARTITION BY account ORDER BY ts
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_ok FROM logins)
SELECT s.ts AS _ts, s.account, MIN(f.ts), COUNT(*), s.ts FROM runs s JOIN logins f ON f.account = s.account AND NOT f.ok
  AND f.ts < s.ts AND (s.last_ok IS NULL OR f.ts > s.last_ok) AND f.ts >= s.ts - INTERVAL '30 minutes'
WHERE s.ok GROUP BY s.account, s.ts HAVING COUNT(*) >= 3

-- recipe: One address, many accounts
SELECT ip, COUNT(DISTINCT account), COUNT(*) FROM logins WHERE ts > tau() - INTERVAL '5 minutes' GROUP BY ip
HAVING COUNT(DISTINCT account) >= 4

-- recipe: More than usual for the card
SELECT card, ts, amount FROM (SELECT *, AVG(amount) OVER (PARTITION BY card) AS mean FROM payments
  WHERE ts > tau() - INTERVAL '1 hour') WHERE amount > 2 * mean AND ts > tau() - INTERVAL '10 minutes'

-- emitted: A login from another country
SELECT ts AS _ts, ts, account, before, country FROM (SELECT *, LAG(country) OVER (PARTITION BY account ORDER BY ts) AS before
  FROM logins WHERE ok) WHERE country <> before

-- emitted: Turnover by category and risk
WITH windows AS (SELECT w, w + INTERVAL '30 minutes' AS e FROM (SELECT UNNEST(generate_series(TIMESTAMP '2026-03-02 07:00:00',
  TIMESTAMP '2026-03-02 13:00:00', INTERVAL '10 minutes')) AS w))
SELECT e AS _ts, category, w, e, SUM(amount), MAX(risk) FROM windows JOIN payments__all ON ts >= w AND ts < e
JOIN merchants USING (merchant) WHERE approved AND e <= tau() GROUP BY category, w, e

-- recipe: Blocked addresses
SELECT ts, account, ip FROM logins WHERE ts > tau() - INTERVAL '30 minutes' AND ip IN (SELECT ip FROM blocked)

-- emitted: The watch list at that time
WITH net AS (SELECT p.ts, p.card, amount, reason, SUM(CASE _op WHEN '+' THEN 1 ELSE -1 END) AS n FROM payments p
  JOIN watchlist__all w ON p.card = w.card AND w._ts <= p.ts GROUP BY ALL)
SELECT ts AS _ts, ts, card, amount, reason FROM net, generate_series(1, n::BIGINT)

-- emitted: Money that passes through
SELECT o.ts AS _ts, i.receiver, i.id, o.id, i.amount, o.amount FROM transfers i JOIN transfers o ON o.sender = i.receiver
  AND o.ts >= i.ts AND o.ts <= i.ts + INTERVAL '10 minutes' WHERE o.amount BETWEEN 0.9 * i.amount AND i.amount

-- emitted: Money in a circle
SELECT c.ts AS _ts, a.sender, b.sender, c.sender, a.id, b.id, c.id FROM transfers a, transfers b, transfers c
WHERE b.sender = a.receiver AND c.sender = b.receiver AND c.receiver = a.sender AND a.ts < b.ts AND b.ts < c.ts
  AND c.ts <= a.ts + INTERVAL '30 minutes'

-- recipe: Charged twice
SELECT card, merchant, amount, COUNT(*), MIN(ts), MAX(ts) FROM payments WHERE ts > tau() - INTERVAL '30 minutes' AND approved
GROUP BY card, merchant, amount HAVING COUNT(*) > 1

-- emitted: The first payment of a card
SELECT MIN(ts) AS _ts, card, MIN(ts), arg_min(merchant, ts), arg_min(amount, ts) FROM payments GROUP BY card
