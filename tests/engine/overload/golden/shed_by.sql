SELECT s.k FROM s [RANGE 1 SECOND], t [RANGE 1 SECOND] AS u WHERE s.k = u.k ON OVERLOAD SHED BY k
=>
SqlError: line 1, column 97: column 'k' is ambiguous; valid: s.k, t.k
  SELECT s.k FROM s [RANGE 1 SECOND], t [RANGE 1 SECOND] AS u WHERE s.k = u.k ON OVERLOAD SHED BY k
                                                                                                  ^
----------
SELECT k FROM s ON OVERLOAD SHED BY price
=>
SqlError: line 1, column 37: there is no column 'price'; valid: k, name, ts, v
  SELECT k FROM s ON OVERLOAD SHED BY price
                                      ^
----------
SELECT s.k FROM s [RANGE 1 SECOND], t [RANGE 1 SECOND] AS u WHERE s.k = u.k ON OVERLOAD SHED BY s.v + u.w
=>
SqlError: line 1, column 97: SHED BY ranks the rows of one stream, and this has columns of several streams: write one for each, with commas
  SELECT s.k FROM s [RANGE 1 SECOND], t [RANGE 1 SECOND] AS u WHERE s.k = u.k ON OVERLOAD SHED BY s.v + u.w
                                                                                                  ^
----------
SELECT k FROM s ON OVERLOAD SHED BY v, -v
=>
SqlError: line 1, column 41: the rows of s are ranked twice: write one expression for a stream
  SELECT k FROM s ON OVERLOAD SHED BY v, -v
                                          ^
----------
SELECT k FROM s ON OVERLOAD SHED BY 1
=>
SqlError: line 1, column 37: SHED BY ranks the rows of one stream, and this has no column of a stream that the query reads; valid: s
  SELECT k FROM s ON OVERLOAD SHED BY 1
                                      ^
----------
SELECT k FROM s ON OVERLOAD SHED BY name
=>
SqlError: line 1, column 37: SHED BY needs a number, BOOLEAN, DATE or TIMESTAMP, not STRING
  SELECT k FROM s ON OVERLOAD SHED BY name
                                      ^
----------
SELECT k FROM s ON OVERLOAD SHED BY SUM(v)
=>
SqlError: line 1, column 37: aggregate SUM is not allowed in SHED BY
  SELECT k FROM s ON OVERLOAD SHED BY SUM(v)
                                      ^
----------
SELECT k FROM s ON OVERLOAD SHED BY rand()
=>
SqlError: line 1, column 37: rand gives another value in each run, so a replay after a failure would give other answers; compute it before the stream instead
  SELECT k FROM s ON OVERLOAD SHED BY rand()
                                      ^
----------
SELECT k FROM s ON OVERLOAD SHED BY (SELECT 1)
=>
UnsupportedError: line 1, column 38: a sub-query in SHED BY is not supported: compute it in a query in FROM
  SELECT k FROM s ON OVERLOAD SHED BY (SELECT 1)
                                       ^
----------
SELECT k FROM s ON OVERLOAD SHED BY
=>
SqlError: line 1, column 34: expected a column or an expression after SHED BY, but the statement ends
  SELECT k FROM s ON OVERLOAD SHED BY
                                   ^
----------
SELECT k FROM s ON OVERLOAD SHED BY v DESC
=>
SqlError: line 1, column 39: unexpected 'DESC'
  SELECT k FROM s ON OVERLOAD SHED BY v DESC
                                        ^
----------
SELECT k FROM s ON OVERLOAD SHED BY t.w
=>
SqlError: line 1, column 37: 't' is not in FROM; valid: s
  SELECT k FROM s ON OVERLOAD SHED BY t.w
                                      ^
----------
SELECT k FROM s ON OVERLOAD SHED AT v
=>
SqlError: line 1, column 34: unexpected 'AT'; is a comma or a word missing in front of it?
  SELECT k FROM s ON OVERLOAD SHED AT v
                                   ^
----------
SELECT scaled_sum(v) FROM s [RANGE 1 SECOND] ON OVERLOAD SHED BY v
=>
SqlError: line 1, column 8: scaled_sum takes the kept rows for a sample of all, and SHED BY keeps those of the highest values: leave out BY, or the estimate
  SELECT scaled_sum(v) FROM s [RANGE 1 SECOND] ON OVERLOAD SHED BY v
         ^
----------
SELECT n FROM estimates ON OVERLOAD SHED BY v
=>
SqlError: line 1, column 1: scaled_count takes the kept rows for a sample of all, and SHED BY keeps those of the highest values: leave out BY, or the estimate
  SELECT n FROM estimates ON OVERLOAD SHED BY v
  ^
----------
EXPLAIN SELECT k FROM s ON OVERLOAD SHED BY name
=>
SqlError: line 1, column 45: SHED BY needs a number, BOOLEAN, DATE or TIMESTAMP, not STRING
  EXPLAIN SELECT k FROM s ON OVERLOAD SHED BY name
                                              ^
----------
SELECT t.k FROM s [RANGE 1 SECOND] AS t, t [RANGE 1 SECOND] AS s WHERE t.k = s.k ON OVERLOAD SHED BY t.k
=>
SqlError: line 1, column 102: 't' is a stream, and the name of another one in FROM: give that one another name
  SELECT t.k FROM s [RANGE 1 SECOND] AS t, t [RANGE 1 SECOND] AS s WHERE t.k = s.k ON OVERLOAD SHED BY t.k
                                                                                                       ^
----------
SELECT w FROM u ON OVERLOAD SHED
=>
CatalogError: query 'q1' drops rows of u at random, and query 'first' BY w: a stream has one drop box, so write the same behind ON OVERLOAD SHED in both
----------
SELECT w FROM u ON OVERLOAD SHED BY w + 1
=>
CatalogError: query 'q1' drops rows of u BY (w + 1.0), and query 'first' BY w: a stream has one drop box, so write the same behind ON OVERLOAD SHED in both
----------
SELECT w FROM u ON OVERLOAD SHED BY u.w
=>
u BY w
----------
SELECT left_one.k FROM s [RANGE 1 SECOND] AS left_one, t [RANGE 1 SECOND] WHERE left_one.k = t.k ON OVERLOAD SHED BY ABS(left_one.v), t.w
=>
s BY abs(s.v)
t BY t.w
----------
