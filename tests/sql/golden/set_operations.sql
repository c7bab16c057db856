SELECT price FROM trades EXCEPT ALL SELECT bid FROM quotes
=>
SqlError: line 1, column 19: EXCEPT ALL needs a window on stream 'trades'; write trades [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT price FROM trades EXCEPT ALL SELECT bid FROM quotes
                    ^
----------
-- also where nothing is taken back
SELECT price FROM trades [NOW] INTERSECT SELECT bid FROM quotes
=>
SqlError: line 2, column 58: INTERSECT needs a window on stream 'quotes'; write quotes [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT price FROM trades [NOW] INTERSECT SELECT bid FROM quotes
                                                           ^
----------
SELECT price FROM trades [NOW] INTERSECT ALL SELECT bid FROM quotes
=>
SqlError: line 1, column 62: INTERSECT ALL needs a window on stream 'quotes'; write quotes [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT price FROM trades [NOW] INTERSECT ALL SELECT bid FROM quotes
                                                               ^
----------
SELECT price FROM trades [NOW] EXCEPT SELECT bid FROM quotes
=>
SqlError: line 1, column 55: EXCEPT needs a window on stream 'quotes'; write quotes [RANGE 5 MINUTES], [ROWS 100], [PARTITION BY c ROWS 3], [NOW] or [UNBOUNDED], or end the SELECT with WINDOW 10 SECONDS
  SELECT price FROM trades [NOW] EXCEPT SELECT bid FROM quotes
                                                        ^
----------
SELECT price FROM trades [NOW] EXCEPT SELECT bid, size FROM quotes [NOW]
=>
SqlError: line 1, column 39: EXCEPT of 1 and 2 columns; the numbers must agree
  SELECT price FROM trades [NOW] EXCEPT SELECT bid, size FROM quotes [NOW]
                                        ^
----------
SELECT price FROM trades [NOW] INTERSECT SELECT symbol FROM quotes [NOW]
=>
SqlError: line 1, column 42: column 1 of INTERSECT: DOUBLE and STRING have no common type; CAST one of them to the other
  SELECT price FROM trades [NOW] INTERSECT SELECT symbol FROM quotes [NOW]
                                           ^
----------
SELECT price FROM trades [NOW] EXCEPT ON (price) SELECT bid FROM quotes [NOW]
=>
SqlError: line 1, column 39: ON (columns) is allowed behind EXCEPT ALL only
  SELECT price FROM trades [NOW] EXCEPT ON (price) SELECT bid FROM quotes [NOW]
                                        ^
----------
SELECT price FROM trades [NOW] UNION ALL ON (price) SELECT bid FROM quotes [NOW]
=>
SqlError: line 1, column 42: ON (columns) is allowed behind EXCEPT ALL only
  SELECT price FROM trades [NOW] UNION ALL ON (price) SELECT bid FROM quotes [NOW]
                                           ^
----------
SELECT price FROM trades [NOW] INTERSECT ALL ON (price) SELECT bid FROM quotes [NOW]
=>
SqlError: line 1, column 46: ON (columns) is allowed behind EXCEPT ALL only
  SELECT price FROM trades [NOW] INTERSECT ALL ON (price) SELECT bid FROM quotes [NOW]
                                               ^
----------
SELECT price FROM trades [NOW] EXCEPT ALL ON (price) SELECT bid FROM quotes [NOW]
=>
SqlError: line 1, column 47: there is no column 'price' right of EXCEPT ALL; valid: bid
  SELECT price FROM trades [NOW] EXCEPT ALL ON (price) SELECT bid FROM quotes [NOW]
                                                ^
----------
SELECT price FROM trades [NOW] EXCEPT ALL ON (bid) SELECT bid FROM quotes [NOW]
=>
SqlError: line 1, column 47: there is no column 'bid' left of EXCEPT ALL; valid: price
  SELECT price FROM trades [NOW] EXCEPT ALL ON (bid) SELECT bid FROM quotes [NOW]
                                                ^
----------
SELECT price AS x, qty AS X FROM trades [NOW] EXCEPT ALL ON (x) SELECT bid AS x FROM quotes [NOW]
=>
SqlError: line 1, column 62: there are several columns 'x' left of EXCEPT ALL; rename with AS
  SELECT price AS x, qty AS X FROM trades [NOW] EXCEPT ALL ON (x) SELECT bid AS x FROM quotes [NOW]
                                                               ^
----------
SELECT symbol FROM trades [NOW] EXCEPT ALL ON (symbol) SELECT size AS symbol FROM quotes [NOW]
=>
SqlError: line 1, column 48: column 'symbol' of EXCEPT ALL ON: STRING and INT have no common type; CAST one of them to the other
  SELECT symbol FROM trades [NOW] EXCEPT ALL ON (symbol) SELECT size AS symbol FROM quotes [NOW]
                                                 ^
----------
SELECT symbol FROM trades [NOW] EXCEPT ALL ON symbol SELECT symbol FROM quotes [NOW]
=>
SqlError: line 1, column 47: expected ( and the columns of EXCEPT ALL ON, got 'symbol'
  SELECT symbol FROM trades [NOW] EXCEPT ALL ON symbol SELECT symbol FROM quotes [NOW]
                                                ^
----------
SELECT symbol FROM trades [NOW] EXCEPT ALL ON () SELECT symbol FROM quotes [NOW]
=>
SqlError: line 1, column 48: expected the columns of EXCEPT ALL ON, got ')'
  SELECT symbol FROM trades [NOW] EXCEPT ALL ON () SELECT symbol FROM quotes [NOW]
                                                 ^
----------
SELECT symbol FROM trades [NOW] EXCEPT ALL ON (symbol SELECT symbol FROM quotes [NOW]
=>
SqlError: line 1, column 55: expected , or ) behind a column of ON, got 'SELECT'
  SELECT symbol FROM trades [NOW] EXCEPT ALL ON (symbol SELECT symbol FROM quotes [NOW]
                                                        ^
----------
SELECT symbol FROM trades [NOW] EXCEPT ALL
=>
SqlError: line 1, column 40: expected a SELECT behind 'ALL', but the statement ends
  SELECT symbol FROM trades [NOW] EXCEPT ALL
                                         ^
----------
SELECT symbol FROM trades [NOW] INTERSECT quotes
=>
SqlError: line 1, column 43: expected a SELECT behind 'INTERSECT', got 'quotes'
  SELECT symbol FROM trades [NOW] INTERSECT quotes
                                            ^
----------
SELECT symbol FROM trades [NOW] UNION ALL BY NAME SELECT symbol FROM quotes [NOW]
=>
UnsupportedError: line 1, column 43: BY NAME is not supported: columns are matched by position
  SELECT symbol FROM trades [NOW] UNION ALL BY NAME SELECT symbol FROM quotes [NOW]
                                            ^
----------
SELECT symbol FROM trades [NOW] UNION VALUES ('a')
=>
UnsupportedError: line 1, column 39: VALUES is not supported: use SELECT
  SELECT symbol FROM trades [NOW] UNION VALUES ('a')
                                        ^
----------
