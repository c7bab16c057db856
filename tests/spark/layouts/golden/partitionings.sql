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
  t: copied to 8 cells
  t is copied: it is not declared to have 100,000 rows (rows = ...)
----------
-- a table that changes is copied
SELECT a.x, n.name FROM a [NOW], n WHERE a.k = n.k
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
  n: copied to 8 cells
  n is copied: it is not declared to have 100,000 rows (rows = ...)
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
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
  partial groups of 8 cells are merged
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
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  partial groups of 8 cells are merged
  frequent keys of a.k = b.k can be split: rows of a or b spread
----------
-- a group of groups
SELECT m.n, COUNT(*) AS c FROM (SELECT k, COUNT(*) AS n FROM a [NOW] GROUP BY k) AS m GROUP BY m.n
=>
partitioning: 8 cells of 8
  8 along a.k
  a: by a.k
  partial groups of 8 cells are merged
  frequent keys of a.k are not split: GROUP BY k needs all rows of a value together
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
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  partial groups of 8 cells are merged
  frequent keys of a.k = b.k can be split: rows of a spread
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
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly, timestamps of all rows in all cells
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
  frequent keys of a.k = b.k are not split: q1: it does not read a stream a; q1: GROUP BY k, x needs all rows of a value together
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
-- load may be shed: one engine decides which rows are dropped
SELECT k, COUNT(*) AS n FROM a [RANGE 10 SECONDS] GROUP BY k ON OVERLOAD SHED
=>
partitioning: 1 cell of 8
  a: all rows
  one cell: queries with ON OVERLOAD SHED: one engine decides which rows are dropped
----------
-- values that lie across the cells
SELECT DISTINCT a.y FROM a [NOW], b [NOW] WHERE a.k = b.k
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  partial groups of 8 cells are merged
  frequent keys of a.k = b.k can be split: rows of a or b spread
----------
-- values of DISTINCT that lie across the cells, beside sums
SELECT COUNT(DISTINCT a.x) AS n, SUM(b.v) AS s FROM a [NOW], b [NOW] WHERE a.k = b.k
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  partial groups of 8 cells are merged
  frequent keys of a.k = b.k can be split: rows of a or b spread
----------
-- deviations, by a column that is no key of the join
SELECT a.y, STDDEV(b.v) AS d FROM a [NOW], b [NOW] WHERE a.k = b.k GROUP BY a.y
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  partial groups of 8 cells are merged
  frequent keys of a.k = b.k can be split: rows of a or b spread
----------
-- several arguments of DISTINCT, and groups by one of them
SELECT a.x, COUNT(DISTINCT a.y) AS n, COUNT(DISTINCT b.y) AS m, AVG(b.v) AS v FROM a [NOW], b [NOW] WHERE a.k = b.k GROUP BY a.x HAVING COUNT(DISTINCT b.v) > 2
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  partial groups of 8 cells are merged
  frequent keys of a.k = b.k can be split: rows of a or b spread
----------
-- copies that are cheaper than merging
-- shards: 2
SELECT a.y, COUNT(*) AS n FROM a [NOW], b [NOW] WHERE a.k = b.k GROUP BY a.y
=>
partitioning: 2 cells of 2
  2 along a.y
  a: by a.y
  b: copied to 2 cells
  copies: no key that all inputs have decides every result
  frequent keys of a.y are not split: GROUP BY a.y needs all rows of a value together
----------
-- an aggregate over a join with a static table
SELECT COUNT(*) AS n, SUM(t.k + 1) AS s FROM a [NOW], t WHERE a.y = t.name
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
  t: copied to 8 cells
  partial groups of 8 cells are merged
  t is copied: it is not declared to have 100,000 rows (rows = ...)
----------
-- the last rows of a stream joined with those of some time
SELECT a.x, b.x AS z FROM a [ROWS 5], b [RANGE 1 MINUTE] WHERE a.k = b.k
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k, timestamps of all rows in all cells
  b: by b.k
  frequent keys of a.k = b.k can be split: rows of a spread
----------
-- the last rows of two streams, compared by another condition
SELECT a.x, b.x AS z FROM a [ROWS 5], b [ROWS 5] WHERE a.v < b.v
=>
partitioning: 8 cells of 8
  4 along rows of a
  2 along rows of b
  a: dealt evenly, copied to 2 cells, timestamps of all rows in all cells
  b: dealt evenly, copied to 4 cells, timestamps of all rows in all cells
  copies: no equality says which rows meet
----------
-- groups over the last rows
SELECT k, COUNT(*) AS n FROM a [ROWS 5] GROUP BY k
=>
partitioning: 8 cells of 8
  8 along a.k
  a: by a.k, timestamps of all rows in all cells
  frequent keys of a.k are not split: GROUP BY k needs all rows of a value together
----------
-- a count of the last rows
SELECT COUNT(*) AS n FROM a [ROWS 5] WHERE x > 1
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly, timestamps of all rows in all cells
  partial groups of 8 cells are merged
----------
-- the last rows of a stream with itself
SELECT a.x FROM a [ROWS 5], a [ROWS 9] AS e WHERE a.k = e.k
=>
partitioning: 8 cells of 8
  8 along a.k
  a: by a.k, timestamps of all rows in all cells
  frequent keys of a.k are not split: no equality joins a with itself
----------
-- queries of a view over a query are divided as the query is, or in a layout of their own
SELECT k, x, y FROM a [NOW] WHERE x > 1
CREATE VIEW large AS SELECT k, x FROM q0 WHERE x > 2
SELECT k, COUNT(DISTINCT x) AS n FROM large GROUP BY k
SELECT x, COUNT(DISTINCT k) AS n FROM large GROUP BY x
=>
partitioning: 8 cells of 8
  8 along a.k
  a: by a.k
  frequent keys of a.k are not split: q2: GROUP BY k needs all rows of a value together
  rows are shared with q2
partitioning: 8 cells of 8
  8 along a.k
  a: by a.k
  frequent keys of a.k are not split: GROUP BY k needs all rows of a value together
  rows are shared with q0
partitioning: 8 cells of 8
  8 along a.x
  a: by a.x
  frequent keys of a.x are not split: GROUP BY x needs all rows of a value together
----------
-- a large static table is divided by the key of a join, and rows of the stream with it
SELECT a.x, p.name FROM a [NOW], p WHERE a.k = p.k
=>
partitioning: 8 cells of 8
  8 along a.k = p.k
  a: by a.k
  p: divided by p.k
  frequent keys of a.k = p.k are not split: rows of table p do not expire
----------
-- also one that changes
SELECT a.x, o.name FROM a [RANGE 1 MINUTE], o WHERE a.k = o.k AND a.v > o.lo
=>
partitioning: 8 cells of 8
  8 along a.k = o.k
  a: by a.k
  o: divided by o.k
  frequent keys of a.k = o.k are not split: rows of table o do not expire
----------
SELECT a.x, m.name FROM a [NOW], m WHERE m.k = a.k
=>
partitioning: 8 cells of 8
  8 along a.k = m.k
  a: by a.k
  m: divided by m.k
  frequent keys of a.k = m.k are not split: rows of table m do not expire
----------
-- the key has a common type
SELECT a.k, p.name FROM a [NOW], p WHERE a.x = p.x
=>
partitioning: 8 cells of 8
  8 along CAST(a.x AS BIGINT) = p.x
  a: by CAST(a.x AS BIGINT)
  p: divided by p.x
  frequent keys of CAST(a.x AS BIGINT) = p.x are not split: rows of table p do not expire
----------
-- by the key of two streams
SELECT a.x, b.x AS z, p.name FROM a [NOW], b [NOW], p WHERE a.k = b.k AND b.k = p.k
=>
partitioning: 8 cells of 8
  8 along a.k = b.k = p.k
  a: by a.k
  b: by b.k
  p: divided by p.k
  frequent keys of a.k = b.k = p.k are not split: rows of table p do not expire
----------
-- two large tables by one key
SELECT a.x, p.name, o.lo FROM a [NOW], p, o WHERE a.k = p.k AND p.k = o.k
=>
partitioning: 8 cells of 8
  8 along a.k = o.k = p.k
  a: by a.k
  o: divided by o.k
  p: divided by p.k
  frequent keys of a.k = o.k = p.k are not split: rows of table o do not expire
----------
-- one by the key, the other one by another column: copied
SELECT a.x, p.name, m.lo FROM a [NOW], p, m WHERE a.k = p.k AND a.x = m.x
=>
partitioning: 8 cells of 8
  2 along CAST(a.x AS BIGINT) = m.x
  4 along a.k = p.k
  a: by CAST(a.x AS BIGINT), by a.k
  m: divided by m.x, copied to 4 cells
  p: divided by p.k, copied to 2 cells
  frequent keys of CAST(a.x AS BIGINT) = m.x are not split: rows of table m do not expire
  frequent keys of a.k = p.k are not split: rows of table p do not expire
----------
-- a table by another column than two streams
SELECT a.x, p.name FROM a [NOW], b [NOW], p WHERE a.k = b.k AND b.x = p.x
=>
partitioning: 8 cells of 8
  8 along a.k = b.k
  a: by a.k
  b: by b.k
  p: copied to 8 cells
  p is copied: with more cells along another axis each has fewer rows of streams
  frequent keys of a.k = b.k can be split: rows of a or b spread
----------
-- rows of the stream without a match
SELECT a.x, p.name FROM a [NOW] LEFT JOIN p ON a.k = p.k
=>
partitioning: 8 cells of 8
  8 along a.k = p.k
  a: by a.k
  p: divided by p.k
  frequent keys of a.k = p.k are not split: rows of table p do not expire
----------
-- rows of the table without a match begin with the first event of all
SELECT p.name, a.x FROM p LEFT JOIN a [NOW] ON a.k = p.k
=>
partitioning: 1 cell of 8
  a: all rows
  p: all rows
  one cell: NOT EXISTS (or an outer join) compares with all rows of a
----------
SELECT a.x FROM a [NOW] WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.k = a.k AND o.lo > a.v)
=>
partitioning: 8 cells of 8
  8 along a.k = o.k
  a: by a.k
  o: divided by o.k
  frequent keys of a.k = o.k are not split: rows of table o do not expire
----------
-- no equality
SELECT a.x FROM a [NOW], p WHERE a.v > p.lo
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
  p: copied to 8 cells
  p is copied: no equality of one of its columns with streams
----------
-- groups of the key
SELECT p.k, COUNT(*) AS n FROM a [NOW], p WHERE a.k = p.k GROUP BY p.k
=>
partitioning: 8 cells of 8
  8 along a.k = p.k
  a: by a.k
  p: divided by p.k
  frequent keys of a.k = p.k are not split: rows of table p do not expire
----------
-- groups across the cells
SELECT p.name, COUNT(*) AS n FROM a [NOW], p WHERE a.k = p.k GROUP BY p.name
=>
partitioning: 8 cells of 8
  8 along a.k = p.k
  a: by a.k
  p: divided by p.k
  partial groups of 8 cells are merged
  frequent keys of a.k = p.k are not split: rows of table p do not expire
----------
-- an expression over rows of the table that can fail: for rows at one coordinate only
SELECT a.x, 1 / p.k AS q FROM a [NOW], p WHERE a.k = p.k AND p.x + 1 > 3
=>
partitioning: 8 cells of 8
  8 along a.k = p.k
  a: by a.k
  p: divided by p.k
  frequent keys of a.k = p.k are not split: rows of table p do not expire
----------
-- a key of a table can be what equal rows have in common only
SELECT a.x FROM a [NOW], o WHERE a.y = CAST(o.lo AS STRING)
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
  o: copied to 8 cells
  o is copied: no equality of one of its columns with streams
----------
-- few values of the key
-- distinct: a.k 3
SELECT a.x, p.name FROM a [NOW], p WHERE a.k = p.k
=>
partitioning: 8 cells of 8
  2 along a.k = p.k
  4 along rows of a
  a: by a.k, dealt evenly
  p: divided by p.k, copied to 4 cells
  frequent keys of a.k = p.k are not split: rows of table p do not expire
----------
-- rules of a large table
CREATE QUERY q FOR EACH ROW OF p AS r AS SELECT x FROM a [NOW] WHERE v > r.lo
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
  p: copied to 8 cells
----------
-- queries by one key share a layout, and its table
SELECT a.x, p.name FROM a [NOW], p WHERE a.k = p.k
SELECT a.x, b.x AS z FROM a [NOW], b [NOW] WHERE a.k = b.k
SELECT x FROM a WHERE v > 1
=>
partitioning: 8 cells of 8
  8 along a.k = b.k = p.k
  a: by a.k
  p: divided by p.k
  frequent keys of a.k = b.k = p.k are not split: rows of table p do not expire
  rows are shared with q1, q2
partitioning: 8 cells of 8
  8 along a.k = b.k = p.k
  a: by a.k
  b: by b.k
  frequent keys of a.k = b.k = p.k are not split: q0: rows of table p do not expire; q0: it does not read a stream b
  rows are shared with q0, q2
partitioning: 8 cells of 8
  8 along a.k = b.k = p.k
  a: by a.k
  frequent keys of a.k = b.k = p.k are not split: q0: rows of table p do not expire
  rows are shared with q0, q1
----------
-- a query that needs all of the table: both have it copied
SELECT a.x, p.name FROM a [NOW], p WHERE a.k = p.k
SELECT a.x FROM a [NOW], p WHERE a.v > p.lo
=>
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
  p: copied to 8 cells
  p is copied: not all queries that share the layout join it by one key
  rows are shared with q1
partitioning: 8 cells of 8
  8 along rows of a
  a: dealt evenly
  p: copied to 8 cells
  p is copied: no equality of one of its columns with streams
  rows are shared with q0
----------
-- by two columns of the table: one layout with copies
SELECT a.x, p.name FROM a [NOW], p WHERE a.k = p.k
SELECT a.k, p.name FROM a [NOW], p WHERE a.x = p.x
=>
partitioning: 8 cells of 8
  8 along CAST(a.x AS BIGINT)
  a: by CAST(a.x AS BIGINT)
  p: copied to 8 cells
  p is copied: not all queries that share the layout join it by one key
  frequent keys of CAST(a.x AS BIGINT) can be split: rows of a spread
  rows are shared with q1
partitioning: 8 cells of 8
  8 along CAST(a.x AS BIGINT)
  a: by CAST(a.x AS BIGINT)
  p: copied to 8 cells
  p is copied: not all queries that share the layout join it by one key
  frequent keys of CAST(a.x AS BIGINT) can be split: rows of a spread
  rows are shared with q0
----------
