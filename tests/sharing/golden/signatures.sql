-- one stream: its filters, its window, its select list
SELECT symbol, price * 2 AS twice FROM trades [RANGE 1 MINUTE] AS t
WHERE price > 5 AND (qty = 1 OR symbol LIKE 'a%')
=>
windowed sources:
  StreamScan trades [UNBOUNDED], 1 MINUTE: (price > 5.0) AND ((qty = 1) OR like(symbol, 'a%'))
select: symbol AS symbol, (price * 2.0) AS twice
----------
-- no window is one that never ends
SELECT * FROM orders WHERE qty > 3
=>
windowed sources:
  StreamScan orders [UNBOUNDED], for ever: (qty > 3)
select: ts AS ts, id AS id, symbol AS symbol, qty AS qty
----------
-- the same, although written otherwise: sources stand by name, keys on the source that they are of
SELECT q.bid FROM trades [RANGE 5 MINUTES] AS t JOIN quotes [RANGE 1 MINUTE] AS q
ON q.symbol = t.symbol WHERE t.price > 1.1 * q.bid AND q.size = 3
=>
windowed sources:
  StreamScan quotes [UNBOUNDED], 1 MINUTE: (size = 3)
  StreamScan trades [UNBOUNDED], 5 MINUTES
edge: 0.symbol = 1.symbol
residual: (price > (1.1 * bid))
select: bid AS bid
----------
SELECT bid FROM quotes [NOW], trades [RANGE 9 SECONDS] WHERE trades.symbol = quotes.symbol
=>
windowed sources:
  StreamScan quotes [UNBOUNDED], 1 MICROSECOND
  StreamScan trades [UNBOUNDED], 9 SECONDS
edge: 0.symbol = 1.symbol
select: bid AS bid
----------
-- several keys, computed ones among them, on one edge
SELECT o.id FROM trades [RANGE 1 MINUTE] AS t, orders [RANGE 1 MINUTE] AS o
WHERE t.qty + 1 = o.qty AND UPPER(t.symbol) = o.symbol AND t.symbol = o.symbol
=>
windowed sources:
  StreamScan orders [UNBOUNDED], 1 MINUTE
  StreamScan trades [UNBOUNDED], 1 MINUTE
edge: 0.CAST(qty AS BIGINT) = 1.(qty + 1)
edge: 0.symbol = 1.symbol
edge: 0.symbol = 1.upper(symbol)
select: id AS id
----------
-- a stream with itself, under two names
SELECT b.price - a.price AS rise FROM trades [RANGE 1 MINUTE] AS a, trades [NOW] AS b
WHERE a.symbol = b.symbol AND a.qty < b.qty
=>
windowed sources:
  StreamScan trades [UNBOUNDED], 1 MINUTE
  StreamScan trades [UNBOUNDED], 1 MICROSECOND
edge: 0.symbol = 1.symbol
residual: (qty < qty)
select: (price - price) AS rise
----------
-- a chain of three, whose order by name is another than that of the joins
SELECT t.price FROM trades [NOW] AS t, orders [NOW] AS o, quotes [NOW] AS q
WHERE t.symbol = q.symbol AND q.size = o.qty
=>
windowed sources:
  StreamScan orders [UNBOUNDED], 1 MICROSECOND
  StreamScan quotes [UNBOUNDED], 1 MICROSECOND
  StreamScan trades [UNBOUNDED], 1 MICROSECOND
edge: 0.qty = 1.size
edge: 1.symbol = 2.symbol
select: price AS price
----------
-- projections and filters in between are seen through
SELECT d.twice + q.bid AS n FROM (SELECT symbol, price * 2 AS twice FROM trades WHERE qty > 2) AS d
JOIN quotes AS q ON d.symbol = q.symbol WHERE d.twice > 8 WINDOW 1 MINUTE
=>
windowed sources:
  StreamScan quotes [UNBOUNDED], 1 MINUTE
  StreamScan trades [UNBOUNDED], 1 MINUTE: (qty > 2) AND ((price * 2.0) > 8.0)
edge: 0.symbol = 1.symbol
select: ((price * 2.0) + bid) AS n
----------
-- a condition that reads nothing belongs to the first source
SELECT t.price FROM trades [NOW] AS t, quotes [NOW] AS q WHERE t.symbol = q.symbol AND 1 = 0
=>
windowed sources:
  StreamScan quotes [UNBOUNDED], 1 MICROSECOND: (1 = 0)
  StreamScan trades [UNBOUNDED], 1 MICROSECOND
edge: 0.symbol = 1.symbol
select: price AS price
----------
-- HAVING: predicates over the groups
SELECT symbol, AVG(price) AS mean FROM trades [RANGE 1 MINUTE] GROUP BY symbol HAVING AVG(price) > 7
=>
sources:
  GroupBy symbol: AVG(price), for ever: (AVG(price) > 7.0)
select: symbol AS symbol, AVG(price) AS mean
----------
-- a window of rows is counted before the filter: so it is one source
SELECT price FROM trades [ROWS 5] WHERE qty > 3
=>
sources:
  StreamScan trades [ROWS 5], for ever: (qty > 3)
select: price AS price
----------
-- conditions on DISTINCT and on joins with tables go below them: nothing is left to share
SELECT symbol FROM (SELECT DISTINCT symbol, qty FROM trades [NOW]) AS d WHERE qty > 3
=>
none
----------
SELECT t.price, c.sector FROM trades [NOW] AS t, companies AS c
WHERE t.symbol = c.symbol AND t.price > 3 AND c.sector = 'tech' AND t.qty < LENGTH(c.sector)
=>
sources:
  LookupJoin symbol = symbol, for ever: (price > 3.0) AND (sector = 'tech') AND (qty < CAST(length(sector) AS BIGINT))
select: price AS price, sector AS sector
----------
-- without conditions, plans are shared as far as they are equal
SELECT DISTINCT symbol FROM trades [NOW]
=>
none
----------
SELECT price FROM trades [ROWS 5]
=>
none
----------
-- windows of rows that are joined: how many rows they hold is the query's own
SELECT t.price FROM trades [ROWS 5] AS t, quotes [ROWS 7] AS q, orders [NOW] AS o
WHERE t.symbol = q.symbol AND q.symbol = o.symbol AND t.qty > 3
=>
windowed sources:
  StreamScan orders [UNBOUNDED], 1 MICROSECOND
  StreamScan quotes [ROWS 1], 7 rows
  StreamScan trades [ROWS 1], 5 rows: (qty > 3)
edge: 0.symbol = 1.symbol
edge: 0.symbol = 2.symbol
edge: 1.symbol = 2.symbol
select: price AS price
----------
-- windows with the last rows of keys: their number is open
SELECT t.price FROM trades [PARTITION BY symbol ROWS 5] AS t, quotes [NOW] AS q
WHERE t.symbol = q.symbol AND q.size > 1
=>
windowed sources:
  StreamScan quotes [UNBOUNDED], 1 MICROSECOND: (size > 1)
  StreamScan trades [PARTITION BY symbol ROWS 1], 5 rows
edge: 0.symbol = 1.symbol
select: price AS price
----------
-- a key of several sources
SELECT t.price FROM trades [NOW] AS t, quotes [NOW] AS q, orders [NOW] AS o
WHERE t.symbol = q.symbol AND t.qty + q.size = o.qty
=>
none
----------
-- not all are joined by keys
SELECT t.price FROM trades [NOW] AS t, quotes [NOW] AS q WHERE t.price > q.bid
=>
windowed sources:
  StreamScan quotes [UNBOUNDED], 1 MICROSECOND
  StreamScan trades [UNBOUNDED], 1 MICROSECOND
theta: (bid < price)
select: price AS price
----------
-- what is there before any row has come: a group of all rows, a table
SELECT n FROM (SELECT COUNT(*) AS n FROM trades [NOW]) AS total WHERE n > 5
=>
none
----------
SELECT least FROM rules WHERE least > 3
=>
none
----------
-- with columns of the row that the query stands for, conditions stay above
CREATE QUERY q FOR EACH ROW OF rules AS
SELECT rules.id, t.price FROM trades [NOW] AS t, companies AS c
WHERE t.symbol = c.symbol AND t.qty > rules.least AND t.qty > 3
=>
sources:
  LookupJoin symbol = symbol, for ever: (qty > 3) AND (qty > CAST($rules.least AS BIGINT))
select: $rules.id AS id, price AS price
----------
-- and what would be a key of one of them is a condition
CREATE QUERY q FOR EACH ROW OF rules AS
SELECT t.price FROM trades [NOW] AS t, orders [NOW] AS o
WHERE t.symbol = o.symbol AND t.qty + rules.least = o.qty
=>
windowed sources:
  StreamScan orders [UNBOUNDED], 1 MICROSECOND
  StreamScan trades [UNBOUNDED], 1 MICROSECOND
edge: 0.symbol = 1.symbol
residual: ((qty + CAST($rules.least AS BIGINT)) = CAST(qty AS BIGINT))
select: price AS price
----------
