-- emitted: The quote at a trade
SELECT id, symbol, price, b, a, price - (b + a) / 2 FROM (SELECT id, symbol, price,
  (SELECT arg_max(bid, q.ts) FROM quotes q WHERE q.symbol = t.symbol AND q.ts <= t.ts) AS b,
  (SELECT arg_max(ask, q.ts) FROM quotes q WHERE q.symbol = t.symbol AND q.ts <= t.ts) AS a FROM trades t)

-- emitted: Trades through the quote
SELECT ts AS _ts, id, symbol, side, price, b, a FROM (SELECT t.ts, id, t.symbol, side, price, arg_max(bid, q.ts) AS b,
  arg_max(ask, q.ts) AS a FROM trades t JOIN quotes q ON q.symbol = t.symbol AND q.ts < t.ts AND q.ts > t.ts - INTERVAL '5 minutes'
  GROUP BY ALL) WHERE price < b OR price > a

-- recipe: Average price by volume
SELECT symbol, SUM(price * qty) / SUM(qty), SUM(qty) FROM trades WHERE ts > tau() - INTERVAL '15 minutes' GROUP BY symbol

-- emitted: Bars
SELECT w + INTERVAL '10 minutes' AS _ts, symbol, w, arg_min(price, ts), MAX(price), MIN(price), arg_max(price, ts), SUM(qty)
FROM (SELECT *, time_bucket(INTERVAL '10 minutes', ts) AS w FROM trades__all) WHERE w + INTERVAL '10 minutes' <= tau()
GROUP BY symbol, w

-- emitted: Bars so far
WITH ticks AS (SELECT UNNEST(generate_series(TIMESTAMP '2026-03-02 08:00:00', tau(), INTERVAL '5 minutes')) AS tick)
SELECT tick AS _ts, symbol, time_bucket(INTERVAL '30 minutes', tick) AS w, arg_min(price, ts), MAX(price), MIN(price),
  arg_max(price, ts) FROM ticks JOIN trades ON ts <= tick AND ts >= time_bucket(INTERVAL '30 minutes', tick) GROUP BY tick, symbol

-- emitted: Volume since the start
SELECT ts AS _ts, ts, symbol, qty, (SELECT SUM(qty) FROM trades p WHERE p.symbol = t.symbol AND p.ts <= t.ts) FROM trades t

-- emitted: Position of an account
SELECT ts AS _ts, id, account, symbol, SUM(n) OVER w, SUM(-n * price) OVER w
FROM (SELECT *, CASE side WHEN 'buy' THEN qty ELSE -qty END AS n FROM trades) WINDOW w AS (PARTITION BY account, symbol ORDER BY ts)

-- emitted: Returns
SELECT ts AS _ts, ts, symbol, price / LAG(price) OVER (PARTITION BY symbol ORDER BY ts) - 1 FROM trades

-- emitted: Jumps
SELECT ts AS _ts, ts, symbol, before, price FROM (SELECT *, (SELECT arg_max(price, o.ts) FROM trades o WHERE o.symbol = t.symbol
  AND o.ts < t.ts) AS before FROM trades t) WHERE price > 1.15 * before OR price < 0.85 * before

-- emitted: Bands
SELECT ts AS _ts, ts, symbol, price, mean, dev FROM (SELECT *, AVG(price) OVER w AS mean, stddev_samp(price) OVER w AS dev FROM trades
  WINDOW w AS (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 20 PRECEDING AND 1 PRECEDING)) WHERE ABS(price - mean) > 2 * dev

-- emitted: Crossing averages
WITH a AS (SELECT *, AVG(price) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 4 PRECEDING AND CURRENT ROW) -
  AVG(price) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 19 PRECEDING AND CURRENT ROW) AS gap FROM trades)
SELECT ts AS _ts, ts, symbol, price FROM a QUALIFY gap > 0 AND LAG(gap) OVER (PARTITION BY symbol ORDER BY ts) <= 0

-- emitted: A new high
SELECT ts AS _ts, ts, symbol, price FROM trades t WHERE price > (SELECT MAX(price) FROM trades o WHERE o.symbol = t.symbol AND o.ts < t.ts)

-- emitted: Falling, then rising
WITH n AS (SELECT *, ROW_NUMBER() OVER w AS i, LAG(price) OVER w AS before FROM trades WINDOW w AS (PARTITION BY symbol ORDER BY ts)),
  pairs AS (SELECT a.symbol, a.i AS a, u.i AS u, a.price AS began, u.price AS recovered, u.ts FROM n a JOIN n u ON u.symbol = a.symbol
    AND u.i >= a.i + 3 AND u.price > a.price AND u.ts <= a.ts + INTERVAL '1 hour')
SELECT p.ts AS _ts, p.symbol, began, arg_max(d.price, d.i), recovered, COUNT(*) FROM pairs p JOIN n d ON d.symbol = p.symbol
  AND d.i > a AND d.i < u GROUP BY p.ts, p.symbol, a, u, began, recovered HAVING bool_and(d.price < d.before)

-- recipe: Two prices that move together
WITH pairs AS (SELECT price AS x, (SELECT arg_max(price, b.ts) FROM trades b WHERE b.symbol = 'BBB' AND b.ts < a.ts) AS y
  FROM trades a WHERE symbol = 'AAA' AND ts > tau() - INTERVAL '1 hour')
SELECT corr(y, x), COUNT(*) FROM pairs WHERE y IS NOT NULL

-- emitted: In one currency
WITH net AS (SELECT t.ts, id, t.symbol, qty * price * rate AS euros, SUM(CASE _op WHEN '+' THEN 1 ELSE -1 END) AS n FROM trades t
  JOIN instruments USING (symbol) JOIN rates__all r ON r.currency = instruments.currency AND r._ts <= t.ts GROUP BY ALL)
SELECT ts AS _ts, id, symbol, euros FROM net, generate_series(1, n::BIGINT)

-- recipe: Turnover by sector
SELECT sector, symbol, SUM(price * qty), CASE WHEN sector IS NULL THEN 3 WHEN symbol IS NULL THEN 1 ELSE 0 END
FROM trades JOIN instruments USING (symbol) WHERE ts > tau() - INTERVAL '30 minutes' AND symbol NOT IN (SELECT symbol FROM halted)
GROUP BY GROUPING SETS ((sector, symbol), (sector), ())

-- emitted: Bought and sold at once
SELECT greatest(b.ts, s.ts) AS _ts, b.account, b.symbol, b.qty, b.id, s.id FROM trades b, trades s WHERE b.account = s.account
  AND b.symbol = s.symbol AND b.qty = s.qty AND b.side = 'buy' AND s.side = 'sell' AND ABS(epoch_us(b.ts) - epoch_us(s.ts)) <= 180000000
