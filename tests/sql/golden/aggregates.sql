SELECT percentile(price, 2) FROM trades [NOW]
=>
?
----------
SELECT percentile(price, qty) FROM trades [NOW]
=>
?
----------
SELECT percentile(symbol, 0.5) FROM trades [NOW]
=>
?
----------
SELECT percentile(price, 0.5, qty) FROM trades [NOW]
=>
?
----------
SELECT percentile_cont(0.5) FROM trades [NOW]
=>
?
----------
SELECT percentile_disc(array(0.5, 3)) WITHIN GROUP (ORDER BY price) FROM trades [NOW]
=>
?
----------
SELECT approx_percentile(symbol, 0.5) FROM trades [NOW]
=>
?
----------
SELECT percentile(DISTINCT price, 0.5) FROM trades [NOW]
=>
?
----------
SELECT mode() FROM trades [NOW]
=>
?
----------
SELECT array_agg(DISTINCT symbol ORDER BY price) FROM trades [NOW]
=>
?
----------
SELECT string_agg(price, ',') FROM trades [NOW]
=>
?
----------
SELECT string_agg(symbol, symbol) FROM trades [NOW]
=>
?
----------
SELECT array_agg(*) FROM trades [NOW]
=>
?
----------
SELECT sum(price ORDER BY ts) FROM trades [NOW]
=>
?
----------
SELECT bit_or(price) FROM trades [NOW]
=>
?
----------
SELECT corr(price) FROM trades [NOW]
=>
?
----------
SELECT corr(DISTINCT price, qty) FROM trades [NOW]
=>
?
----------
SELECT first(sector) FROM companies
=>
?
----------
SELECT count_if(price) FROM trades [NOW]
=>
?
----------
SELECT histogram(price) FROM trades [NOW]
=>
?
----------
SELECT price FROM trades [NOW] WHERE median(price) > 1
=>
?
----------
SELECT symbol, grouping(price) FROM trades [NOW] GROUP BY ROLLUP (symbol)
=>
?
----------
SELECT symbol, grouping(symbol) FROM trades [NOW] GROUP BY symbol
=>
?
----------
SELECT symbol FROM trades [NOW] WHERE grouping(symbol) = 1 GROUP BY ROLLUP (symbol)
=>
?
----------
SELECT symbol, price FROM trades [NOW] GROUP BY ROLLUP (symbol)
=>
?
----------
SELECT symbol, grouping(symbol, qty) FROM trades [NOW] GROUP BY ROLLUP (symbol, qty)
=>
?
----------
SELECT COUNT(*) FROM trades [NOW] GROUP BY CUBE (symbol, price, qty, ts, price + 1, price + 2, price + 3)
=>
?
----------
SELECT symbol, qty, COUNT(*), grouping_id() FROM trades [NOW] GROUP BY symbol, qty WITH CUBE HAVING grouping(qty) = 0
=>
?
----------
SELECT symbol, COUNT(*) FROM trades [NOW] GROUP BY symbol, qty GROUPING SETS ((symbol), (qty))
=>
?
----------
