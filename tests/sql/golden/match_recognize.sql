-- accepted
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS p, LAST(B.price, 1) AS q AFTER MATCH SKIP TO LAST B PATTERN (A B+? (C | D){2,3}) WITHIN INTERVAL '1' HOUR SUBSET U = (C, D) DEFINE B AS B.price > PREV(B.price, 2), C AS SUM(U.qty) < 10) AS m
=>
no error
----------
-- over a sub-query and another pattern
SELECT * FROM (SELECT ts, symbol, price * 2 AS p FROM trades WHERE qty > 1) MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.p AS p PATTERN (A B) DEFINE B AS p > A.p) AS m WHERE m.p > 3
=>
no error
----------
SELECT * FROM trades MATCH_RECOGNIZE ()
=>
SqlError: line 1, column 39: expected PATTERN and a pattern in parentheses, got ')'
  SELECT * FROM trades MATCH_RECOGNIZE ()
                                        ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts )
=>
SqlError: line 1, column 71: expected PATTERN and a pattern in parentheses, got ')'
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts )
                                                                        ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol PATTERN (A B))
=>
SqlError: line 1, column 22: MATCH_RECOGNIZE needs ORDER BY ts, the event time
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol PATTERN (A B))
                       ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY price PATTERN (A B))
=>
SqlError: line 1, column 48: ORDER BY must begin with ts, the event time, ascending
  SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY price PATTERN (A B))
                                                 ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts DESC PATTERN (A B))
=>
SqlError: line 1, column 48: ORDER BY must begin with ts, the event time, ascending
  SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts DESC PATTERN (A B))
                                                 ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts, price PATTERN (A B))
=>
UnsupportedError: line 1, column 52: ORDER BY has ts only: rows of the same instant are in the order in which they came
  SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts, price PATTERN (A B))
                                                     ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY nothing ORDER BY ts PATTERN (A B))
=>
SqlError: line 1, column 52: there is no column 'nothing'; valid: price, qty, symbol, ts
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY nothing ORDER BY ts PATTERN (A B))
                                                     ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY price + 1 ORDER BY ts PATTERN (A B))
=>
SqlError: line 1, column 58: expected PATTERN and a pattern in parentheses, got '+'
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY price + 1 ORDER BY ts PATTERN (A B))
                                                           ^
----------
-- bounded state
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B*))
=>
UnsupportedError: line 2, column 22: a pattern with *, + or {n,} needs WITHIN, as in PATTERN (A B+) WITHIN INTERVAL 1 HOUR, so that the rows that are kept are bounded
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B*))
                       ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A? B?))
=>
UnsupportedError: line 1, column 22: PATTERN can match no rows: let it have a row at least
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A? B?))
                       ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A (B? C?)*) WITHIN INTERVAL 1 HOUR)
=>
UnsupportedError: line 1, column 22: PATTERN repeats by *, + or {n,} a group that can match no rows
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A (B? C?)*) WITHIN INTERVAL 1 HOUR)
                       ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A{3,2}))
=>
SqlError: line 1, column 81: the second number of a quantifier is less than the first, or zero
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A{3,2}))
                                                                                  ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A{1001}))
=>
SqlError: line 1, column 82: a quantifier counts to 1000 at most, got '1001'
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A{1001}))
                                                                                   ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN ((A{900}){900}))
=>
SqlError: line 1, column 22: PATTERN has more than 2000 steps, as {n} counts n times
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN ((A{900}){900}))
                       ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A{}))
=>
SqlError: line 1, column 82: quantifiers are *, +, ?, {n}, {n,}, {n,m}, {,m}, each also with ? behind it; got '}'
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A{}))
                                                                                   ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN ())
=>
SqlError: line 1, column 80: expected a variable of PATTERN, got ')'
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN ())
                                                                                 ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A | ))
=>
SqlError: line 1, column 84: expected a variable of PATTERN, got ')'
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A | ))
                                                                                     ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B)
=>
SqlError: line 1, column 83: expected the next clause of MATCH_RECOGNIZE, or ) to end it, but the statement ends
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B)
                                                                                    ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (^ A))
=>
no error
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A $))
=>
UnsupportedError: line 1, column 82: $ in PATTERN is not supported: a stream has no last row; the last one before a pause is last(x) of FROM s [SESSION 30 SECONDS BY k] GROUP BY k, window_start, window_end
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A $))
                                                                                   ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A {- B -} C))
=>
UnsupportedError: line 1, column 82: {- in PATTERN is not supported: leave rows out with WHERE on CLASSIFIER() AS name
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A {- B -} C))
                                                                                   ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (PERMUTE(A, B)))
=>
no error
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) WITHIN INTERVAL 0 HOURS)
=>
SqlError: line 1, column 92: WITHIN must be longer than zero
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) WITHIN INTERVAL 0 HOURS)
                                                                                             ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) WITHIN 5)
=>
SqlError: line 1, column 93: unknown time unit ')'; valid: DAYS, HOURS, MICROSECONDS, MILLISECONDS, MINUTES, SECONDS, WEEKS
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) WITHIN 5)
                                                                                              ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A B))
=>
UnsupportedError: line 1, column 90: WITH UNMATCHED ROWS is not supported: a row may still become a part of a match
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A B))
                                                                                           ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts AFTER MATCH SKIP TO C PATTERN (A B))
=>
SqlError: line 1, column 91: there is no variable 'C' in PATTERN; valid: a, b
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts AFTER MATCH SKIP TO C PATTERN (A B))
                                                                                            ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts AFTER MATCH RESTART PATTERN (A B))
=>
SqlError: line 1, column 83: expected SKIP and PAST LAST ROW, TO NEXT ROW, TO FIRST variable, TO LAST variable (or TO variable, the last), got 'RESTART'
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts AFTER MATCH RESTART PATTERN (A B))
                                                                                    ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE C AS price > 1)
=>
SqlError: line 1, column 92: there is no variable 'C' in PATTERN; valid: A, B
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE C AS price > 1)
                                                                                             ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE A AS price > 1, A AS price > 2)
=>
SqlError: line 1, column 108: 'A' is defined twice
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE A AS price > 1, A AS price > 2)
                                                                                                             ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE A AS price + 1)
=>
SqlError: line 1, column 97: expected a condition, got DOUBLE
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE A AS price + 1)
                                                                                                  ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE A AS C.price > 1)
=>
SqlError: line 1, column 97: there is no variable 'C' in PATTERN; valid: a, b
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE A AS C.price > 1)
                                                                                                  ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE A AS prise > 1)
=>
SqlError: line 1, column 97: there is no column 'prise'; did you mean 'price'? valid: price, qty, symbol, ts
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE A AS prise > 1)
                                                                                                  ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) SUBSET U = (A, C))
=>
SqlError: line 1, column 100: there is no variable 'C' in PATTERN; valid: A, B
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) SUBSET U = (A, C))
                                                                                                     ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) SUBSET A = (B))
=>
SqlError: line 1, column 92: 'A' is defined twice
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) SUBSET A = (B))
                                                                                             ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS NEXT(price) > 1)
=>
UnsupportedError: line 1, column 97: NEXT is not supported: name the row by a variable behind it
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS NEXT(price) > 1)
                                                                                                  ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS CLASSIFIER() = 'A')
=>
SqlError: line 1, column 97: CLASSIFIER() is allowed in MEASURES only, outside of other calls
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS CLASSIFIER() = 'A')
                                                                                                  ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS FIRST(A.price, B.qty) > 1)
=>
SqlError: line 1, column 112: the offset of FIRST is a whole number of rows from 0 to 100
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS FIRST(A.price, B.qty) > 1)
                                                                                                                 ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS FIRST(A.price, 101) > 1)
=>
SqlError: line 1, column 112: the offset of FIRST is a whole number of rows from 0 to 100
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS FIRST(A.price, 101) > 1)
                                                                                                                 ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS FIRST(A.price + B.price) > 1)
=>
SqlError: line 1, column 103: these are columns of several variables: name one of them
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS FIRST(A.price + B.price) > 1)
                                                                                                        ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS FIRST(SUM(A.price)) > 1)
=>
SqlError: line 1, column 103: aggregate SUM is not allowed in another call
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS FIRST(SUM(A.price)) > 1)
                                                                                                        ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS SUM(FIRST(A.price)) > 1)
=>
SqlError: line 1, column 101: FIRST is not allowed in an aggregate
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS SUM(FIRST(A.price)) > 1)
                                                                                                      ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS SUM(A.price * B.qty) > 1)
=>
SqlError: line 1, column 97: these are columns of several variables: name one of them
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS SUM(A.price * B.qty) > 1)
                                                                                                  ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS MEDIAN(A.price) > 1)
=>
UnsupportedError: line 1, column 97: MEDIAN(A.price) is not supported in DEFINE: there are comparisons, AND, OR, NOT, IS NULL, BETWEEN, IN, + - * /, ABS, COALESCE and CASE, and COUNT, SUM, AVG, MIN and MAX
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS MEDIAN(A.price) > 1)
                                                                                                  ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS COUNT(DISTINCT A.price) > 1)
=>
UnsupportedError: line 1, column 97: COUNT(DISTINCT A.price) is not supported in DEFINE: there are comparisons, AND, OR, NOT, IS NULL, BETWEEN, IN, + - * /, ABS, COALESCE and CASE, and COUNT, SUM, AVG, MIN and MAX
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS COUNT(DISTINCT A.price) > 1)
                                                                                                  ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS sqrt(A.price) > price)
=>
UnsupportedError: line 1, column 97: sqrt of rows matched before is not supported in DEFINE: there are comparisons, AND, OR, NOT, IS NULL, BETWEEN, IN, + - * /, ABS, COALESCE and CASE, and COUNT, SUM, AVG, MIN and MAX
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS sqrt(A.price) > price)
                                                                                                  ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS A.symbol < symbol)
=>
UnsupportedError: line 1, column 97: texts of rows matched before are compared by = and <> only, not by <
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS A.symbol < symbol)
                                                                                                  ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS upper(A.symbol) = symbol)
=>
UnsupportedError: line 1, column 97: upper of rows matched before is not supported in DEFINE: there are comparisons, AND, OR, NOT, IS NULL, BETWEEN, IN, + - * /, ABS, COALESCE and CASE, and COUNT, SUM, AVG, MIN and MAX
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS upper(A.symbol) = symbol)
                                                                                                  ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS FINAL LAST(A.price) > 1)
=>
SqlError: line 1, column 97: FINAL is allowed in MEASURES only
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A B) DEFINE B AS FINAL LAST(A.price) > 1)
                                                                                                  ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES MATCH_NUMBER() AS n PATTERN (A B))
=>
UnsupportedError: line 1, column 80: MATCH_NUMBER() is not supported: numbers of partitions would be kept for ever; use the time of the match, as MATCH_ROWTIME()
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES MATCH_NUMBER() AS n PATTERN (A B))
                                                                                 ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price PATTERN (A B))
=>
SqlError: line 1, column 88: expected AS and the name of the measure, got 'PATTERN'
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price PATTERN (A B))
                                                                                         ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES CLASSIFIER(A) AS n PATTERN (A B))
=>
SqlError: line 1, column 80: CLASSIFIER() takes no arguments
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES CLASSIFIER(A) AS n PATTERN (A B))
                                                                                 ^
----------
-- what cannot be read
SELECT * FROM trades [RANGE 1 MINUTE] MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B))
=>
UnsupportedError: line 2, column 39: MATCH_RECOGNIZE reads the rows of a stream without a window, perhaps filtered or computed by a sub-query
  SELECT * FROM trades [RANGE 1 MINUTE] MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B))
                                        ^
----------
SELECT * FROM companies MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B))
=>
UnsupportedError: line 1, column 25: MATCH_RECOGNIZE reads the rows of a stream without a window, perhaps filtered or computed by a sub-query
  SELECT * FROM companies MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B))
                          ^
----------
SELECT * FROM averages MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B)) WINDOW 1 MINUTE
=>
SqlError: line 11, column 64: GROUP BY needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  CREATE VIEW averages AS SELECT symbol, AVG(price) AS mean FROM trades GROUP BY symbol;
                                                                 ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B)) WINDOW 1 MINUTE
=>
SqlError: line 1, column 66: this window applies to no stream: every stream here has its own, or is outside
  SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B)) WINDOW 1 MINUTE
                                                                   ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B)) MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B))
=>
SqlError: line 1, column 66: one MATCH_RECOGNIZE follows another: write FROM (SELECT * FROM s MATCH_RECOGNIZE (...)) MATCH_RECOGNIZE (...)
  SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B)) MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B))
                                                                   ^
----------
-- what cannot read it
SELECT COUNT(*) FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES A.price AS p PATTERN (A B))
=>
UnsupportedError: line 2, column 22: an aggregate of matches, which never leave, needs a window on them, as in FROM TUMBLE((SELECT ...), DESCRIPTOR(_ts), INTERVAL 1 HOUR)
  SELECT COUNT(*) FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES A.price AS p PATTERN (A B))
                       ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES A.price AS p PATTERN (A B)) AS m, quotes [NOW] AS q
=>
UnsupportedError: line 1, column 15: a join of matches, which never leave, needs a window on them, as in FROM TUMBLE((SELECT ...), DESCRIPTOR(_ts), INTERVAL 1 HOUR)
  SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES A.price AS p PATTERN (A B)) AS m, quotes [NOW] AS q
                ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES MATCH_ROWTIME() AS t PATTERN (A B)) AS m WHERE t > now() - INTERVAL 5 MINUTES
=>
UnsupportedError: line 1, column 107: t: it is not the event time of a stream; now() is compared with that only
  SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES MATCH_ROWTIME() AS t PATTERN (A B)) AS m WHERE t > now() - INTERVAL 5 MINUTES
                                                                                                            ^
----------
SELECT DISTINCT p FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES A.price AS p PATTERN (A B))
=>
UnsupportedError: line 1, column 24: DISTINCT of matches, which never leave, needs a window on them, as in FROM TUMBLE((SELECT ...), DESCRIPTOR(_ts), INTERVAL 1 HOUR)
  SELECT DISTINCT p FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES A.price AS p PATTERN (A B))
                         ^
----------
SELECT p FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES A.price AS p PATTERN (A B)) EMIT FINAL
=>
UnsupportedError: line 1, column 1: EMIT FINAL is for rows of windows that end together: write a window such as s [TUMBLE 1 MINUTE]
  SELECT p FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES A.price AS p PATTERN (A B)) EMIT FINAL
  ^
----------
-- a window over matches
SELECT window_end, COUNT(*) AS n FROM TUMBLE((SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES A.price AS p PATTERN (A B))), DESCRIPTOR(_ts), INTERVAL 1 HOUR) GROUP BY window_end, window_start
=>
no error
----------
-- with a table
SELECT m.p, c.sector FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.price AS p PATTERN (A B)) AS m JOIN companies AS c ON m.symbol = c.symbol
=>
no error
----------
SELECT m.p FROM trades AS t (a, b, c, d) MATCH_RECOGNIZE (PARTITION BY b ORDER BY a MEASURES A.c AS p, t.d + t.c AS q PATTERN (A B)) AS m (x, p, y)
=>
no error
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN ((^ A | B)))
=>
UnsupportedError: line 1, column 81: ^ behind the start of PATTERN is not supported: write PATTERN (^ ...) or (^ (A | B))
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN ((^ A | B)))
                                                                                  ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (^ A | B))
=>
SqlError: line 1, column 80: ^ is for one alternative here: write ^ (A | B)
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (^ A | B))
                                                                                 ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A ^ B))
=>
UnsupportedError: line 1, column 82: ^ behind the start of PATTERN is not supported: write PATTERN (^ ...) or (^ (A | B))
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A ^ B))
                                                                                   ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (^ (A | B) C))
=>
no error
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (^ (A | B)))
=>
no error
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (^ PERMUTE(A, B)))
=>
no error
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (PERMUTE(A, B, C) D))
=>
no error
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (PERMUTE(A)))
=>
no error
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (PERMUTE(A, B+)))
=>
UnsupportedError: line 1, column 22: a pattern with *, + or {n,} needs WITHIN, as in PATTERN (A B+) WITHIN INTERVAL 1 HOUR, so that the rows that are kept are bounded
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (PERMUTE(A, B+)))
                       ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (PERMUTE(A, B, C, D, E, F)))
=>
SqlError: line 1, column 80: PERMUTE has more than 2000 steps, n! for n patterns
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (PERMUTE(A, B, C, D, E, F)))
                                                                                 ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (PERMUTE(A))
=>
SqlError: line 1, column 90: expected the next clause of MATCH_RECOGNIZE, or ) to end it, but the statement ends
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (PERMUTE(A))
                                                                                           ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (PERMUTE(A, )))
=>
SqlError: line 1, column 91: expected a variable of PATTERN, got ')'
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (PERMUTE(A, )))
                                                                                            ^
----------
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A, B))
=>
SqlError: line 1, column 81: expected a variable, or ) to end PATTERN, got ','
  SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts PATTERN (A, B))
                                                                                  ^
----------
SELECT * FROM (SELECT symbol, price FROM trades) MATCH_RECOGNIZE (ORDER BY _ts PATTERN (^ A))
=>
SqlError: line 1, column 50: ^ in PATTERN needs the event time: select it in the sub-query
  SELECT * FROM (SELECT symbol, price FROM trades) MATCH_RECOGNIZE (ORDER BY _ts PATTERN (^ A))
                                                   ^
----------
