-- a filter: rows go anywhere
SELECT x FROM a WHERE v > 1
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
----------
-- each window over time, each EMIT form
SELECT x FROM a [RANGE 1 MINUTE] EMIT CHANGES
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
----------
-- a snapshot is the sum of the snapshots of all cells
SELECT x FROM a [RANGE 1 MINUTE] EMIT SNAPSHOT EVERY 1 SECOND
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
----------
-- a static table is in each engine
SELECT a.x, t.name FROM a [NOW], t WHERE a.k = t.k
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
----------
-- a table that changes is copied
SELECT a.x, n.name FROM a [NOW], n WHERE a.k = n.k
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
  n: copied to 8 cells
----------
-- also a retroactive one
SELECT a.x FROM a [NOW], r WHERE a.v > r.lo
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
  r: copied to 8 cells
----------
-- rows of the table without a match are those without one in all cells
SELECT r.lo, a.x FROM r LEFT JOIN a [NOW] ON a.k = r.k
=>
partitioning: 1 cell of 8
  a: all rows
  r: all rows
  one cell: NOT EXISTS (or an outer join) compares with all rows of a
----------
-- rules of a table that changes
CREATE QUERY q FOR EACH ROW OF r AS p AS SELECT x FROM a [NOW] WHERE v > p.lo
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
  r: copied to 8 cells
----------
-- rules over a join
CREATE QUERY q FOR EACH ROW OF r AS p AS SELECT a.x FROM a [NOW], b [NOW] WHERE a.k = b.k AND a.v > p.lo
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  r: copied to 8 cells
  frequent keys of a.k = b.k can be split: rows of a or b spread
----------
-- a join on one key
SELECT a.x, b.y FROM a [NOW], b [NOW] WHERE a.k = b.k
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k can be split: rows of a or b spread
----------
-- the key has a common type
SELECT a.v FROM a [NOW], c [NOW] WHERE a.x = c.x
=>
partitioning: 8 cells of 8
  8 along CAST(a.x AS BIGINT) = c.x
  a: by CAST(a.x AS BIGINT)
  c: by c.x
  frequent keys of CAST(a.x AS BIGINT) = c.x can be split: rows of a or c spread
----------
-- a key that is computed
SELECT a.v FROM a [NOW], b [NOW] WHERE upper(a.y) = b.y
=>
partitioning: 8 cells of 8
  8 along upper(a.y) = b.y
  a: by upper(a.y)
  b: by b.y
  frequent keys of upper(a.y) = b.y can be split: rows of a or b spread
----------
-- a key that can fail is no key
SELECT a.v FROM a [NOW], b [NOW] WHERE a.k + 1 = b.k
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
  b: copied to 8 cells
  copies: no equality says which rows meet
----------
-- three streams with one class of keys
SELECT a.x FROM a [NOW], b [NOW], c [NOW] WHERE a.k = b.k AND b.k = c.k
=>
partitioning: 8 cells of 8
  8 along a.k = b.k = c.k
  a: by a.k
  b: by b.k
  c: by c.k
  frequent keys of a.k = b.k = c.k can be split: rows of a or b or c spread
----------
-- the same class, written with joins and through a cast
SELECT a.k FROM a [NOW] JOIN b [NOW] ON a.x = b.x JOIN c [NOW] ON a.x = c.x
=>
partitioning: 8 cells of 8
  8 along CAST(a.x AS BIGINT) = CAST(b.x AS BIGINT) = c.x
  a: by CAST(a.x AS BIGINT)
  b: by CAST(b.x AS BIGINT)
  c: by c.x
  frequent keys of CAST(a.x AS BIGINT) = CAST(b.x AS BIGINT) = c.x can be split: rows of a or b or c spread
----------
-- the same class in nested queries
SELECT d.k FROM (SELECT a.k, b.v FROM a [NOW], b [NOW] WHERE a.k = b.k) AS e, d [NOW] WHERE e.k = d.k
=>
partitioning: 8 cells of 8
  8 along a.k = b.k = d.k
  a: by a.k
  b: by b.k
  d: by d.k
  frequent keys of a.k = b.k = d.k can be split: rows of a or b or d spread
----------
-- two keys: the first one
SELECT a.v FROM a [NOW], b [NOW] WHERE a.k = b.k AND a.y = b.y
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k can be split: rows of a or b spread
----------
-- two keys: the one with more values
-- distinct: a.k 3, a.y 5000, b.y 5000
SELECT a.v FROM a [NOW], b [NOW] WHERE a.k = b.k AND a.y = b.y
=>
partitioning: 8 cells of 8
  8 along a.y = b.y
  a: by a.y
  b: by b.y
  frequent keys of a.y = b.y can be split: rows of a or b spread
----------
-- a key with few values: also the rows of a stream
-- distinct: a.k 3
SELECT a.v FROM a [NOW], b [NOW] WHERE a.k = b.k
=>
partitioning: 8 cells of 8
  2 along a.k = b.k
  2 along rows of a
  2 along rows of b
  a: by a.k, dealt evenly, copied to 2 cells
  b: by b.k, dealt evenly, copied to 2 cells
  copies: no key that all inputs have decides every result
  frequent keys of a.k = b.k can be split: rows of a or b spread
----------
-- a chain: HyperCube
SELECT a.x FROM a [NOW], b [NOW], c [NOW] WHERE a.k = b.k AND b.y = c.y
=>
partitioning: 8 cells of 8
  4 along a.k = b.k
  2 along b.y = c.y
  a: by a.k, copied to 2 cells
  b: by b.k, by b.y
  c: by c.y, copied to 4 cells
  copies: no key that all inputs have decides every result
  frequent keys of a.k = b.k can be split: rows of a or b spread
  frequent keys of b.y = c.y can be split: rows of b or c spread
----------
-- a chain with a stream of many rows in the middle
-- rates: a 10, b 1000, c 10
SELECT a.x FROM a [NOW], b [NOW], c [NOW] WHERE a.k = b.k AND b.y = c.y
=>
partitioning: 8 cells of 8
  4 along a.k = b.k
  2 along b.y = c.y
  a: by a.k, copied to 2 cells
  b: by b.k, by b.y
  c: by c.y, copied to 4 cells
  copies: no key that all inputs have decides every result
  frequent keys of a.k = b.k can be split: rows of a or b spread
  frequent keys of b.y = c.y can be split: rows of b or c spread
----------
-- a chain with few rows at one end: only these are copied
-- rates: a 1000, b 1000, c 1
SELECT a.x FROM a [NOW], b [NOW], c [NOW] WHERE a.k = b.k AND b.y = c.y
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  c: copied to 8 cells
  copies: no key that all inputs have decides every result
  frequent keys of a.k = b.k can be split: rows of a or b spread
----------
-- a chain of four
SELECT a.x FROM a [NOW], b [NOW], c [NOW], d [NOW] WHERE a.k = b.k AND b.y = c.y AND c.x = d.x
=>
partitioning: 8 cells of 8
  4 along a.k = b.k
  2 along c.x = d.x
  a: by a.k, copied to 2 cells
  b: by b.k, copied to 2 cells
  c: by c.x, copied to 4 cells
  d: by d.x, copied to 4 cells
  copies: no key that all inputs have decides every result
  frequent keys of a.k = b.k can be split: rows of a or b spread
  frequent keys of c.x = d.x can be split: rows of c or d spread
----------
-- a star
SELECT a.x FROM a [NOW], b [NOW], c [NOW], d [NOW] WHERE a.k = b.k AND a.y = c.y AND a.v = d.v
=>
partitioning: 8 cells of 8
  2 along a.k = b.k
  2 along a.v = d.v
  2 along a.y = c.y
  a: by a.k, by a.v, by a.y
  b: by b.k, copied to 4 cells
  c: by c.y, copied to 4 cells
  d: by d.v, copied to 4 cells
  copies: no key that all inputs have decides every result
  frequent keys of a.k = b.k can be split: rows of a or b spread
  frequent keys of a.v = d.v can be split: rows of a or d spread
  frequent keys of a.y = c.y can be split: rows of a or c spread
----------
-- a cycle
SELECT a.x FROM a [NOW], b [NOW], c [NOW] WHERE a.k = b.k AND b.y = c.y AND c.v = a.v
=>
partitioning: 8 cells of 8
  2 along a.k = b.k
  2 along a.v = c.v
  2 along b.y = c.y
  a: by a.k, by a.v, copied to 2 cells
  b: by b.k, by b.y, copied to 2 cells
  c: by c.v, by c.y, copied to 2 cells
  copies: no key that all inputs have decides every result
  frequent keys of a.k = b.k can be split: rows of a or b spread
  frequent keys of a.v = c.v can be split: rows of a or c spread
  frequent keys of b.y = c.y can be split: rows of b or c spread
----------
-- no equality: a grid
SELECT a.x FROM a [NOW], b [NOW] WHERE a.v < b.v
=>
partitioning: 8 cells of 8
  4 along rows of a
  2 along rows of b
  a: dealt evenly, copied to 2 cells
  b: dealt evenly, copied to 4 cells
  copies: no equality says which rows meet
----------
-- no equality, and one stream has few rows
-- rates: a 1000, b 1
SELECT a.x FROM a [NOW], b [NOW] WHERE a.v < b.v
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
  b: copied to 8 cells
  copies: no equality says which rows meet
----------
-- an expression that can fail is not evaluated for copies
SELECT a.x FROM a [NOW], b [NOW] WHERE a.v < b.v AND a.k * 2 > 5 AND b.k * 2 > 5
=>
partitioning: 1 cell of 8
  a: all rows
  b: all rows
  one cell: ((b.k * 2) > 5) can fail for a row, and each cell with a copy of the row would report it; a try_ function gives NULL instead
----------
-- GROUP BY over one stream
SELECT k, COUNT(*) AS n FROM a [NOW] GROUP BY k
=>
partitioning: 8 cells of 8
  8 along a.k
  a: by a.k
  frequent keys of a.k are not split: GROUP BY k needs all rows of a value together
----------
-- GROUP BY two columns
SELECT k, y, COUNT(*) AS n FROM a [NOW] GROUP BY k, y
=>
partitioning: 8 cells of 8
  8 along (a.k, a.y)
  a: by (a.k, a.y)
  frequent keys of (a.k, a.y) are not split: GROUP BY k, y needs all rows of a value together
----------
-- GROUP BY something that can fail and a column
SELECT k % 2 AS m, y, COUNT(*) AS n FROM a [NOW] GROUP BY k % 2, y
=>
partitioning: 8 cells of 8
  8 along ((a.k % 2), a.y)
  a: by ((a.k % 2), a.y)
  frequent keys of ((a.k % 2), a.y) are not split: GROUP BY (k % 2), y needs all rows of a value together
----------
-- all rows are one group
SELECT COUNT(*) AS n FROM a [NOW]
=>
partitioning: 1 cell of 8
  a: all rows
  one cell: COUNT(*) without GROUP BY is over all rows
----------
-- GROUP BY with the key of a join
SELECT a.k, b.y, COUNT(*) AS n FROM a [NOW], b [NOW] WHERE a.k = b.k GROUP BY a.k, b.y
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k are not split: GROUP BY a.k, b.y needs all rows of a value together
----------
-- GROUP BY a column that is no key of the join: the other stream is copied
SELECT a.y, COUNT(*) AS n FROM a [NOW], b [NOW] WHERE a.k = b.k GROUP BY a.y
=>
partitioning: 8 cells of 8
  8 along a.y
  a: by a.y
  b: copied to 8 cells
  copies: no key that all inputs have decides every result
  frequent keys of a.y are not split: GROUP BY a.y needs all rows of a value together
----------
-- a group of groups
SELECT m.n, COUNT(*) AS c FROM (SELECT k, COUNT(*) AS n FROM a [NOW] GROUP BY k) AS m GROUP BY m.n
=>
partitioning: 1 cell of 8
  a: all rows
  one cell: GROUP BY COUNT(*) does not contain k, by which rows are dealt
----------
-- groups that are joined
SELECT b.v, m.n FROM (SELECT k, COUNT(*) AS n FROM a [NOW] GROUP BY k) AS m, b [NOW] WHERE b.k = m.k
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k can be split: rows of b spread
----------
-- DISTINCT over one stream
SELECT DISTINCT k, y FROM a [NOW]
=>
partitioning: 8 cells of 8
  8 along (a.k, a.y)
  a: by (a.k, a.y)
  frequent keys of (a.k, a.y) are not split: DISTINCT of k, y needs all rows of a value together
----------
-- DISTINCT of a join
SELECT DISTINCT a.k FROM a [NOW], b [NOW] WHERE a.k = b.k
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k are not split: DISTINCT of k needs all rows of a value together
----------
-- an outer join
SELECT a.x, b.x AS z FROM a [NOW] LEFT JOIN b [NOW] ON a.k = b.k
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k can be split: rows of a spread
----------
-- a full outer join
SELECT a.x, b.x AS z FROM a [NOW] FULL JOIN b [NOW] ON a.k = b.k
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k are not split: NOT EXISTS (or an outer join) compares with all rows of a; NOT EXISTS (or an outer join) compares with all rows of b
----------
-- the key of an outer join, where it is kept
SELECT a.k, COUNT(b.k) AS n FROM a [NOW] LEFT JOIN b [NOW] ON a.k = b.k GROUP BY a.k
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k are not split: GROUP BY a.k needs all rows of a value together; NOT EXISTS (or an outer join) compares with all rows of b
----------
-- the key of an outer join, where it is NULL for rows without a match
SELECT b.k, COUNT(*) AS n FROM a [NOW] LEFT JOIN b [NOW] ON a.k = b.k GROUP BY b.k
=>
partitioning: 1 cell of 8
  a: all rows
  b: all rows
  one cell: GROUP BY b.k does not contain a.k, by which rows are dealt
----------
-- EXISTS
SELECT x FROM a [NOW] WHERE EXISTS (SELECT 1 FROM b [NOW] WHERE b.k = a.k)
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k can be split: rows of a spread
----------
-- NOT EXISTS
SELECT x FROM a [NOW] WHERE NOT EXISTS (SELECT 1 FROM b [NOW] WHERE b.k = a.k)
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k can be split: rows of a spread
----------
-- NOT EXISTS without an equality
SELECT x FROM a [NOW] WHERE NOT EXISTS (SELECT 1 FROM b [NOW] WHERE b.v > a.v)
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
  b: copied to 8 cells
  copies: no equality says which rows meet
----------
-- negation by a key
SELECT k, y FROM a [NOW] EXCEPT ALL ON (k) SELECT k, y FROM b [NOW]
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k are not split: EXCEPT ALL counts rows of equal k = k; EXCEPT ALL compares with all rows of b
----------
-- UNION ALL of streams
SELECT k FROM a [NOW] UNION ALL SELECT k FROM b [NOW]
=>
partitioning: 8 cells of 8
  8 along rows of a, b
  a: dealt evenly
  b: dealt evenly
----------
-- UNION removes duplicates
SELECT y FROM a [NOW] UNION SELECT y FROM b [NOW]
=>
partitioning: 8 cells of 8
  8 along a.y = b.y
  a: by a.y
  b: by b.y
  frequent keys of a.y = b.y are not split: UNION ALL would add rows that every cell has to those of one cell
----------
-- INTERSECT
SELECT y FROM a [NOW] INTERSECT SELECT y FROM b [NOW]
=>
partitioning: 8 cells of 8
  8 along coalesce(a.y, '') = coalesce(b.y, '')
  a: by coalesce(a.y, '')
  b: by coalesce(b.y, '')
  frequent keys of coalesce(a.y, '') = coalesce(b.y, '') are not split: DISTINCT of y needs all rows of a value together
----------
-- the last rows of a stream
SELECT x FROM a [ROWS 5]
=>
partitioning: 1 cell of 8
  a: all rows
  one cell: a [ROWS 5] counts the rows of the whole stream; [PARTITION BY ... ROWS n] by a key would count within a cell
----------
-- the last rows of each key
SELECT a.x, b.x AS z FROM a [PARTITION BY k ROWS 5], b [NOW] WHERE a.k = b.k
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k are not split: a [PARTITION BY k ROWS 5] counts rows of equal k; a [PARTITION BY k ROWS 5] is not a window over time
----------
-- the last rows of each value of a column that is no key
SELECT a.x FROM a [PARTITION BY y ROWS 5], b [NOW] WHERE a.k = b.k
=>
partitioning: 8 cells of 8
  8 along a.y
  a: by a.y
  b: copied to 8 cells
  copies: no key that all inputs have decides every result
  frequent keys of a.y are not split: a [PARTITION BY y ROWS 5] counts rows of equal y
----------
-- a stream with itself by one column
SELECT a.x FROM a [NOW], a [RANGE 1 MINUTE] AS e WHERE a.k = e.k
=>
partitioning: 8 cells of 8
  8 along a.k
  a: by a.k
  frequent keys of a.k are not split: no equality joins a with itself
----------
-- a stream with itself by two columns
SELECT a.x FROM a [NOW], a [RANGE 1 MINUTE] AS e WHERE a.x = e.k
=>
partitioning: 1 cell of 8
  a: all rows
  one cell: a is joined with itself on different columns: each of its rows would have to be dealt in two ways
----------
-- a stream with itself without equality
SELECT a.x FROM a [NOW], a [RANGE 1 MINUTE] AS e WHERE a.v < e.v
=>
partitioning: 1 cell of 8
  a: all rows
  one cell: no equality joins a with itself
----------
-- lateness by row
SELECT x FROM w WHERE v > 1
=>
partitioning: 1 cell of 8
  w: all rows
  one cell: w judges the lateness of a row by all rows before it (lateness_by = 'row'); lateness_by = 'batch' does not
----------
-- seven shards
-- shards: 7
SELECT a.x FROM a [NOW], b [NOW], c [NOW] WHERE a.k = b.k AND b.y = c.y
=>
partitioning: 6 cells of 7
  3 along a.k = b.k
  2 along b.y = c.y
  a: by a.k, copied to 2 cells
  b: by b.k, by b.y
  c: by c.y, copied to 3 cells
  copies: no key that all inputs have decides every result
  fewer cells: the keys have few values, or no grid with more cells has fewer rows each
  frequent keys of a.k = b.k can be split: rows of a or b spread
  frequent keys of b.y = c.y can be split: rows of b or c spread
----------
-- many shards
-- shards: 512
SELECT a.x FROM a [NOW], b [NOW], c [NOW] WHERE a.k = b.k AND b.y = c.y
=>
partitioning: 506 cells of 512
  23 along a.k = b.k
  22 along b.y = c.y
  a: by a.k, copied to 22 cells
  b: by b.k, by b.y
  c: by c.y, copied to 23 cells
  copies: no key that all inputs have decides every result
  fewer cells: the keys have few values, or no grid with more cells has fewer rows each
  frequent keys of a.k = b.k can be split: rows of a or b spread
  frequent keys of b.y = c.y can be split: rows of b or c spread
----------
-- one shard
-- shards: 1
SELECT COUNT(*) AS n FROM a [NOW]
=>
partitioning: 1 cell of 1
  a: all rows
----------
-- two queries: the second one can use the rows of the first
SELECT a.x FROM a [NOW], b [NOW] WHERE a.k = b.k
SELECT k, x, COUNT(*) AS n FROM b [NOW] GROUP BY k, x
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k can be split: rows of a or b spread
  rows are shared with q1
partitioning: 8 cells of 8
  8 along a.k = b.k
  b: by b.k
  frequent keys of a.k = b.k are not split: GROUP BY k, x needs all rows of a value together
  rows are shared with q0
----------
-- two queries with different keys
SELECT a.x FROM a [NOW], b [NOW] WHERE a.k = b.k
SELECT y, COUNT(*) AS n FROM b [NOW] GROUP BY y
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k can be split: rows of a or b spread
partitioning: 8 cells of 8
  8 along b.y
  b: by b.y
  frequent keys of b.y are not split: GROUP BY y needs all rows of a value together
----------
