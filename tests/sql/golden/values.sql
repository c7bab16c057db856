SELECT x FROM (VALUES (1), (2)) AS t(x)
=>
SqlError: line 1, column 16: VALUES needs a stream in front of it: FROM s, (VALUES (1, 'a')) AS t (x, y)
  SELECT x FROM (VALUES (1), (2)) AS t(x)
                 ^
----------
SELECT t.qty FROM trades [NOW] AS t LEFT JOIN (VALUES (1)) AS v(x) ON t.qty = v.x
=>
UnsupportedError: line 1, column 48: write JOIN (VALUES ...) AS t (x, y) ON ...; for LEFT JOIN make a table
  SELECT t.qty FROM trades [NOW] AS t LEFT JOIN (VALUES (1)) AS v(x) ON t.qty = v.x
                                                 ^
----------
SELECT qty FROM trades [NOW], (VALUES (1), (2, 3)) AS v(x)
=>
SqlError: line 1, column 44: this row of VALUES has 2 columns, the first has 1
  SELECT qty FROM trades [NOW], (VALUES (1), (2, 3)) AS v(x)
                                             ^
----------
SELECT qty FROM trades [NOW], (VALUES (1), ('x')) AS v(x)
=>
SqlError: line 1, column 32: INT and STRING have no common type; CAST one of them to the other
  SELECT qty FROM trades [NOW], (VALUES (1), ('x')) AS v(x)
                                 ^
----------
SELECT qty FROM trades [NOW], (VALUES (1, 2)) AS v(x)
=>
SqlError: line 1, column 50: 1 column aliases for 2 columns: col1, col2
  SELECT qty FROM trades [NOW], (VALUES (1, 2)) AS v(x)
                                                   ^
----------
SELECT qty FROM trades [NOW], (VALUES) AS v(x)
=>
SqlError: line 1, column 38: expected a row, as in VALUES (1, 'a'), got ')'
  SELECT qty FROM trades [NOW], (VALUES) AS v(x)
                                       ^
----------
SELECT qty FROM trades [NOW], (VALUES ()) AS v(x)
=>
SqlError: line 1, column 40: expected the values of a row and ), got ')'
  SELECT qty FROM trades [NOW], (VALUES ()) AS v(x)
                                         ^
----------
SELECT qty FROM trades [NOW], (VALUES (1) AS v(x)
=>
SqlError: line 1, column 43: expected ) behind the rows of VALUES, got 'AS'
  SELECT qty FROM trades [NOW], (VALUES (1) AS v(x)
                                            ^
----------
