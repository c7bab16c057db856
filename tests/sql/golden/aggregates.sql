SELECT percentile(price, 2) FROM trades [NOW]
=>
SqlError: line 1, column 8: percentile takes a constant from 0 to 1, or an array(...) of them, not 2
  SELECT percentile(price, 2) FROM trades [NOW]
         ^
----------
SELECT percentile(price, qty) FROM trades [NOW]
=>
SqlError: line 1, column 8: percentile takes a constant from 0 to 1, or an array(...) of them, not qty
  SELECT percentile(price, qty) FROM trades [NOW]
         ^
----------
SELECT percentile(symbol, 0.5) FROM trades [NOW]
=>
SqlError: line 1, column 8: percentile needs numbers, not STRING; CAST the argument
  SELECT percentile(symbol, 0.5) FROM trades [NOW]
         ^
----------
SELECT percentile(price, 0.5, qty) FROM trades [NOW]
=>
SqlError: line 1, column 8: percentile(price, 0.5, qty) is not an aggregate; valid: percentile(value, fraction) or percentile(value, array(fraction, ...))
  SELECT percentile(price, 0.5, qty) FROM trades [NOW]
         ^
----------
SELECT percentile_cont(0.5) FROM trades [NOW]
=>
SqlError: line 1, column 8: percentile_cont needs one value to order by: percentile_cont(fraction) WITHIN GROUP (ORDER BY value [DESC])
  SELECT percentile_cont(0.5) FROM trades [NOW]
         ^
----------
SELECT percentile_disc(array(0.5, 3)) WITHIN GROUP (ORDER BY price) FROM trades [NOW]
=>
SqlError: line 1, column 8: percentile_disc takes a constant from 0 to 1, or an array(...) of them, not array(0.5, 3.0)
  SELECT percentile_disc(array(0.5, 3)) WITHIN GROUP (ORDER BY price) FROM trades [NOW]
         ^
----------
SELECT approx_percentile(symbol, 0.5) FROM trades [NOW]
=>
SqlError: line 1, column 8: approx_percentile needs numbers, dates, times or intervals, not STRING
  SELECT approx_percentile(symbol, 0.5) FROM trades [NOW]
         ^
----------
SELECT percentile(DISTINCT price, 0.5) FROM trades [NOW]
=>
UnsupportedError: line 1, column 8: percentile(DISTINCT ...) is not supported; write it without DISTINCT
  SELECT percentile(DISTINCT price, 0.5) FROM trades [NOW]
         ^
----------
SELECT mode() FROM trades [NOW]
=>
SqlError: line 1, column 8: mode needs one value to order by: mode() WITHIN GROUP (ORDER BY value [DESC])
  SELECT mode() FROM trades [NOW]
         ^
----------
SELECT array_agg(DISTINCT symbol ORDER BY price) FROM trades [NOW]
=>
SqlError: line 1, column 8: ORDER BY in array_agg(DISTINCT value) must be of the value
  SELECT array_agg(DISTINCT symbol ORDER BY price) FROM trades [NOW]
         ^
----------
SELECT string_agg(price, ',') FROM trades [NOW]
=>
SqlError: line 1, column 8: string_agg needs texts, not DOUBLE; CAST the argument
  SELECT string_agg(price, ',') FROM trades [NOW]
         ^
----------
SELECT string_agg(symbol, symbol) FROM trades [NOW]
=>
SqlError: line 1, column 8: string_agg takes a constant text as separator, not symbol
  SELECT string_agg(symbol, symbol) FROM trades [NOW]
         ^
----------
SELECT array_agg(*) FROM trades [NOW]
=>
SqlError: line 1, column 8: array_agg(*) is not an aggregate; valid: array_agg([DISTINCT] value) or array_agg(value ORDER BY x, ...)
  SELECT array_agg(*) FROM trades [NOW]
         ^
----------
SELECT sum(price ORDER BY ts) FROM trades [NOW]
=>
UnsupportedError: line 1, column 8: ORDER BY in sum(...) is not supported: the order of its rows does not matter
  SELECT sum(price ORDER BY ts) FROM trades [NOW]
         ^
----------
SELECT bit_or(price) FROM trades [NOW]
=>
SqlError: line 1, column 8: bit_or needs integers, not DOUBLE; CAST the argument
  SELECT bit_or(price) FROM trades [NOW]
         ^
----------
SELECT corr(price) FROM trades [NOW]
=>
SqlError: line 1, column 8: corr takes two arguments, not 1: corr(y, x)
  SELECT corr(price) FROM trades [NOW]
         ^
----------
SELECT corr(DISTINCT price, qty) FROM trades [NOW]
=>
UnsupportedError: line 1, column 8: corr(DISTINCT ...) is not supported; these are: COUNT(DISTINCT x), SUM(DISTINCT x), TRY_SUM(DISTINCT x), AVG(DISTINCT x), TRY_AVG(DISTINCT x), STDDEV(DISTINCT x), STDDEV_POP(DISTINCT x), VARIANCE(DISTINCT x), VAR_POP(DISTINCT x)
  SELECT corr(DISTINCT price, qty) FROM trades [NOW]
         ^
----------
SELECT first(sector) FROM companies
=>
UnsupportedError: line 1, column 8: first(value) needs the event time of a stream, which these rows do not have: write first(value ORDER BY column), or min_by or max_by(value, column)
  SELECT first(sector) FROM companies
         ^
----------
SELECT count_if(price) FROM trades [NOW]
=>
SqlError: line 1, column 8: count_if needs conditions, not DOUBLE
  SELECT count_if(price) FROM trades [NOW]
         ^
----------
SELECT histogram(price) FROM trades [NOW]
=>
no error
----------
SELECT price FROM trades [NOW] WHERE median(price) > 1
=>
SqlError: line 1, column 38: aggregate median is not allowed in WHERE: write HAVING behind GROUP BY
  SELECT price FROM trades [NOW] WHERE median(price) > 1
                                       ^
----------
SELECT symbol, grouping(price) FROM trades [NOW] GROUP BY ROLLUP (symbol)
=>
SqlError: line 1, column 16: grouping takes keys of GROUP BY, not price; valid: symbol
  SELECT symbol, grouping(price) FROM trades [NOW] GROUP BY ROLLUP (symbol)
                 ^
----------
SELECT symbol, grouping(symbol) FROM trades [NOW] GROUP BY symbol
=>
SqlError: line 1, column 16: grouping needs GROUP BY with GROUPING SETS, ROLLUP or CUBE
  SELECT symbol, grouping(symbol) FROM trades [NOW] GROUP BY symbol
                 ^
----------
SELECT symbol FROM trades [NOW] WHERE grouping(symbol) = 1 GROUP BY ROLLUP (symbol)
=>
SqlError: line 1, column 39: grouping is not allowed in WHERE
  SELECT symbol FROM trades [NOW] WHERE grouping(symbol) = 1 GROUP BY ROLLUP (symbol)
                                        ^
----------
SELECT symbol, price FROM trades [NOW] GROUP BY ROLLUP (symbol)
=>
SqlError: line 1, column 16: column 'price' is neither in GROUP BY nor inside an aggregate: add it to GROUP BY, or write MAX(price) or the like; grouped by: symbol
  SELECT symbol, price FROM trades [NOW] GROUP BY ROLLUP (symbol)
                 ^
----------
SELECT symbol, grouping(symbol, qty) FROM trades [NOW] GROUP BY ROLLUP (symbol, qty)
=>
SqlError: line 1, column 16: grouping takes one key of GROUP BY, not 2
  SELECT symbol, grouping(symbol, qty) FROM trades [NOW] GROUP BY ROLLUP (symbol, qty)
                 ^
----------
SELECT COUNT(*) FROM trades [NOW] GROUP BY CUBE (symbol, price, qty, ts, price + 1, price + 2, price + 3)
=>
SqlError: line 1, column 50: these are 128 grouping sets, of which each row makes a group; at most 64: leave out what is not needed
  SELECT COUNT(*) FROM trades [NOW] GROUP BY CUBE (symbol, price, qty, ts, price + 1, price + 2, price + 3)
                                                   ^
----------
SELECT symbol, qty, COUNT(*), grouping_id() FROM trades [NOW] GROUP BY symbol, qty WITH CUBE HAVING grouping(qty) = 0
=>
no error
----------
SELECT symbol, COUNT(*) FROM trades [NOW] GROUP BY symbol, qty GROUPING SETS ((symbol), (qty))
=>
no error
----------
SELECT symbol, window.start, COUNT(*) FROM trades GROUP BY window(ts, '1 minute'), ROLLUP (symbol)
=>
no error
----------
SELECT symbol, COUNT(*) FROM trades GROUP BY session_window(ts, '1 minute'), ROLLUP (symbol)
=>
UnsupportedError: line 1, column 1: UNNEST, ROLLUP, CUBE or GROUPING SETS of sessions is not supported: they are grouped alone, write SELECT k, window_start, window_end, COUNT(*) FROM s [SESSION 30 SECONDS BY k] GROUP BY k, window_start, window_end; for more put a window over these groups, as in FROM TUMBLE((SELECT ...), _ts, INTERVAL '1' HOUR), or write EMIT CHANGES for early results
  SELECT symbol, COUNT(*) FROM trades GROUP BY session_window(ts, '1 minute'), ROLLUP (symbol)
  ^
----------
