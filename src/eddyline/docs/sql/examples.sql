-- world
CREATE STREAM trades (ts TIMESTAMP, symbol STRING, price DOUBLE, qty BIGINT) TIMESTAMP BY ts;
CREATE STREAM quotes (ts TIMESTAMP, symbol STRING, bid DOUBLE) TIMESTAMP BY ts;
CREATE STREAM visits (ts TIMESTAMP, visitor STRING, page STRING, tags ARRAY<STRING>, body STRING) TIMESTAMP BY ts;
CREATE TABLE companies (symbol STRING, sector STRING);
CREATE TABLE halted (symbol STRING) WITH (updates = 'retroactive');
CREATE TABLE ratings (symbol STRING, rating STRING) WITH (updates = 'non-retroactive');
CREATE TABLE rules (id BIGINT, symbol STRING, least DOUBLE, seconds BIGINT) WITH (updates = 'retroactive');

== Scripts
-- Three statements, one of them with quoted names.
CREATE VIEW "large trades" AS SELECT symbol, price FROM trades [NOW] WHERE qty >= 4;
CREATE QUERY large AS SELECT symbol AS `the symbol`, price FROM "large trades";
-- forms
DROP TABLE ratings;

== CREATE STREAM
-- An event time that is computed from a number of milliseconds.
CREATE STREAM orders (ms BIGINT, id BIGINT, total DOUBLE, ts TIMESTAMP AS (timestamp_millis(ms)))
  TIMESTAMP BY ts LATENESS 5 SECONDS IDLE AFTER 30 SECONDS AHEAD AT MOST 1 HOUR;
DESCRIBE orders;
-- forms
CREATE STREAM logs (ms BIGINT, level STRING PATH '$.log.level', part INT METADATA FROM 'partition', offset BIGINT METADATA) TIMESTAMP BY (timestamp_millis(ms)) WITH (source = 'kafka', kafka.bootstrap.servers = 'localhost:9092', subscribe = 'logs', format = 'json', rate = 100, distinct.level = 5);
CREATE STREAM files (ts TIMESTAMP, x INT) TIMESTAMP BY ts WITH (source = 'csv', path = 'files', header = TRUE, multiLine = FALSE, late_sink = 'parquet', late_path = 'late');

== Types
-- Numbers, texts, times, and columns with parts.
CREATE STREAM all_types (ts TIMESTAMP, a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h DECIMAL(10, 2),
  i STRING, j BINARY, k DATE, l ARRAY<INT>, m MAP<STRING, DOUBLE>, n STRUCT<x: INT, y: ARRAY<STRING>>) TIMESTAMP BY ts;
DESCRIBE all_types;
-- forms
CREATE STREAM other_names (ts TIMESTAMP, a INTEGER, b LONG, c REAL, d VARCHAR, e CHAR, f DECIMAL, g DECIMAL(5), h STRUCT<x INT>) TIMESTAMP BY ts;

== Durations
-- A window of 90 seconds; the first of the other forms are the same.
SELECT symbol FROM trades [RANGE 90 SECONDS] WHERE qty > 4;
-- forms
SELECT symbol FROM trades [RANGE 1 MINUTE 30 SECONDS];
SELECT symbol FROM trades [RANGE '90 seconds'];
SELECT symbol FROM trades [RANGE INTERVAL '90' SECOND];
SELECT symbol FROM trades [RANGE INTERVAL '1:30' MINUTE TO SECOND];
SELECT symbol FROM trades [RANGE 500 MICROSECONDS];
SELECT symbol FROM trades [RANGE 500 MILLISECONDS];
SELECT symbol FROM trades [RANGE 500 ms];
SELECT symbol FROM trades [RANGE 2 HOURS];
SELECT symbol FROM trades [RANGE 1 DAY];
SELECT symbol FROM trades [RANGE 2 WEEKS];
SELECT COUNT(*) AS n FROM trades [TUMBLE 1 MONTH];
SELECT COUNT(*) AS n FROM trades [TUMBLE 1 QUARTER];
SELECT COUNT(*) AS n FROM trades [TUMBLE 1 YEAR];
SELECT COUNT(*) AS n FROM trades [TUMBLE 1 DAY OFFSET -2 HOURS];

== CREATE TABLE
-- Trades of companies in a sector, by a static table.
SELECT t.symbol, t.price, c.sector FROM trades [NOW] AS t JOIN companies AS c ON t.symbol = c.symbol WHERE c.sector = 'tools';
-- forms
CREATE TABLE cities (name STRING, country STRING);
CREATE TABLE prices (item STRING, price DECIMAL(10, 2)) WITH (updates = 'non-retroactive', source = 'kafka', kafka.bootstrap.servers = 'localhost:9092', subscribe = 'prices', format = 'json');

== CREATE VIEW
-- A view that two queries could read; equal parts run once.
CREATE VIEW cheap AS SELECT symbol, price FROM trades [RANGE 5 MINUTES] WHERE price < 11;
SELECT symbol, COUNT(*) AS n FROM cheap GROUP BY symbol EMIT CHANGES;

== CREATE QUERY
-- A standing query with the answer in files of Parquet.
CREATE QUERY expensive AS SELECT symbol, price FROM trades [RANGE 1 MINUTE] WHERE price > 15
  WITH (sink = 'parquet', path = 'expensive');
-- A query for each row of a table of rules, with a window of its own.
CREATE QUERY by_rule FOR EACH ROW OF rules AS r AS
  SELECT r.id, t.symbol, t.price FROM trades [RANGE r.seconds SECONDS AT MOST 1 HOUR] AS t
  WHERE t.symbol = r.symbol AND t.price >= r.least;
-- forms
CREATE QUERY by_row FOR EACH ROW OF rules AS SELECT rules.id, t.price FROM trades [NOW] AS t WHERE t.symbol = rules.symbol EMIT CHANGES ON OVERLOAD SHED WITH (sink = 'memory');

== EMIT
-- New results; each has its expiry.
SELECT symbol, price FROM trades [RANGE 3 MINUTES] WHERE price > 11 EMIT INSERTS;
-- All changes: a `-` when a result ends.
SELECT symbol, price FROM trades [RANGE 3 MINUTES] WHERE price > 11 EMIT CHANGES;
-- Final results, when a window has ended.
SELECT symbol, COUNT(*) AS n FROM trades [TUMBLE 10 MINUTES] GROUP BY symbol EMIT FINAL;
-- The answer every five minutes.
SELECT symbol, SUM(qty) AS qty FROM trades [RANGE 10 MINUTES] GROUP BY symbol EMIT SNAPSHOT EVERY 5 MINUTES;
-- forms
SELECT symbol FROM trades [RANGE 1 MINUTE] EMIT SNAPSHOT EVERY 1 HOUR OFFSET 5 MINUTES;

== ON OVERLOAD
-- Under overload the rows with the smallest quantity go first.
SELECT symbol, qty FROM trades [NOW] WHERE qty > 3 ON OVERLOAD SHED BY qty;
-- forms
SELECT symbol FROM trades [NOW] EMIT INSERTS ON OVERLOAD SHED;
SELECT t.symbol FROM trades [RANGE 1 MINUTE] AS t, quotes [RANGE 1 MINUTE] AS q WHERE t.symbol = q.symbol ON OVERLOAD SHED BY t.qty, q.bid;
SELECT COUNT(*) AS n FROM trades [RANGE 1 MINUTE];

== CREATE FUNCTION
-- A function whose body is SQL.
CREATE FUNCTION value(price DOUBLE, qty BIGINT) RETURNS DOUBLE AS price * qty;
SELECT symbol, value(price, qty) AS value FROM trades [NOW] WHERE value(price, qty) > 40;
-- A function in Python over Arrow arrays.
CREATE FUNCTION rounded(x DOUBLE) RETURNS BIGINT LANGUAGE PYTHON AS $$
    import pyarrow.compute as pc

    def rounded(x):
        return pc.cast(pc.round(x), "int64")
$$;
SELECT symbol, rounded(price / 3) AS third FROM trades [NOW] WHERE symbol = 'B';
-- forms
CREATE FUNCTION two() RETURNS INT LANGUAGE SQL RETURN 2;
CREATE FUNCTION last_of(x DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON AS 'math.floor' WITH (kind = 'python');
CREATE FUNCTION pieces(t STRING) RETURNS TABLE (piece STRING) LANGUAGE PYTHON AS $$ pieces = lambda t: [(p,) for p in t.split()] $$ WITH (kind = 'python');
CREATE AGGREGATE FUNCTION spread(x DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON AS $$ spread = type("spread", (), {"finish": staticmethod(lambda values: max(values) - min(values))}) $$;

== Other statements
-- What is there.
SHOW STREAMS;
-- The columns of a query.
CREATE QUERY sums AS SELECT symbol, SUM(qty) AS qty FROM trades [RANGE 5 MINUTES] GROUP BY symbol;
DESCRIBE QUERY sums;
-- The plan, with the update pattern of each step.
EXPLAIN SELECT symbol FROM trades [RANGE 5 MINUTES] WHERE price > 10;
-- forms
SET chunk_rows = 1000;
SET capacity = NULL;
SET sharing = TRUE;
SET optimize = FALSE;
SET decide_every = '1 minute';
CREATE QUERY a AS SELECT symbol FROM trades [NOW] WITH (sink = 'print'); ALTER QUERY a WITH (sink = 'memory');
CREATE QUERY b AS SELECT symbol FROM trades [NOW]; EXPLAIN QUERY b; EXPLAIN ANALYZE b; DROP QUERY b;
ALTER STREAM trades RESET WATERMARK;
CREATE VIEW v AS SELECT symbol FROM trades; DESC VIEW v; DROP VIEW v;
CREATE FUNCTION one() RETURNS INT AS 1; DROP FUNCTION one;
SHOW TABLES;
SHOW VIEWS;
SHOW QUERIES;
SHOW FUNCTIONS;
DESCRIBE STREAM trades;
DESCRIBE TABLE companies;
DESCRIBE trades;
EXPLAIN SELECT symbol FROM trades [NOW] EMIT CHANGES ON OVERLOAD SHED;
DROP STREAM visits;

== Queries
-- WITH names a sub-query.
WITH means (symbol, mean) AS (SELECT symbol, AVG(price) FROM trades [RANGE 10 MINUTES] GROUP BY symbol)
SELECT symbol, mean FROM means WHERE mean > 15 EMIT CHANGES;
-- Trades and quotes in one answer.
SELECT symbol, price AS number FROM trades [NOW] UNION ALL SELECT symbol, bid FROM quotes [NOW];
-- Symbols with trades and no quotes.
SELECT symbol FROM trades [RANGE 5 MINUTES] EXCEPT SELECT symbol FROM quotes [RANGE 5 MINUTES];
-- forms
WITH a AS (SELECT symbol FROM trades), b AS (SELECT symbol FROM quotes) SELECT a.symbol FROM a, b WHERE a.symbol = b.symbol WINDOW 1 MINUTE;
SELECT symbol FROM trades [NOW] INTERSECT ALL SELECT symbol FROM quotes [NOW];
SELECT symbol FROM trades [NOW] UNION DISTINCT (SELECT symbol FROM quotes [NOW]);
(SELECT symbol FROM trades [RANGE 1 MINUTE]) MINUS SELECT symbol FROM quotes [RANGE 1 MINUTE];
SELECT symbol, price FROM trades [RANGE 1 MINUTE] EXCEPT ALL ON (symbol) SELECT symbol, bid FROM quotes [RANGE 1 MINUTE];
SELECT symbol, price FROM trades [RANGE 1 MINUTE] EXCEPT ALL ON (symbol, price) SELECT symbol, bid AS price FROM quotes [RANGE 1 MINUTE];
SELECT symbol FROM trades UNION ALL SELECT symbol FROM quotes WINDOW 1 MINUTE;

== SELECT
-- Expressions with names, of the rows that satisfy a condition.
SELECT symbol, price * qty AS value FROM trades [RANGE 5 MINUTES] WHERE price > 10 AND symbol LIKE 'A%';
-- Each row once.
SELECT DISTINCT symbol FROM trades [RANGE 5 MINUTES] EMIT CHANGES;
-- QUALIFY selects by a value over the partition.
SELECT symbol, price FROM trades [RANGE 10 MINUTES] QUALIFY price > AVG(price) OVER (PARTITION BY symbol);
-- forms
SELECT ALL t.* FROM trades [NOW] AS t;
SELECT * EXCEPT (qty) FROM trades [NOW];
SELECT * EXCEPT (qty, price), price + 1 more FROM trades [NOW];
SELECT DISTINCT ON (symbol) symbol, price FROM trades [RANGE 1 MINUTE] ORDER BY symbol, ts DESC;
SELECT DISTINCT ON (symbol, qty) symbol, qty, price FROM trades [RANGE 1 MINUTE] ORDER BY symbol, qty, ts DESC;

== GROUP BY
-- Groups that HAVING accepts.
SELECT symbol, COUNT(*) AS n, MAX(price) AS highest FROM trades [RANGE 10 MINUTES] GROUP BY symbol HAVING COUNT(*) >= 2;
-- Sums of each symbol, and of all.
SELECT symbol, SUM(qty) AS qty FROM trades [TUMBLE 10 MINUTES] GROUP BY ROLLUP (symbol);
-- A window of time as a key, as in Spark.
SELECT w.start, w.end, symbol, COUNT(*) AS n FROM trades GROUP BY window(ts, '10 minutes') AS w, symbol;
-- forms
SELECT symbol, qty, COUNT(*) AS n FROM trades [RANGE 1 MINUTE] GROUP BY ROLLUP (symbol, qty);
SELECT symbol, COUNT(*) AS n FROM trades [RANGE 1 MINUTE] GROUP BY CUBE (symbol);
SELECT symbol, qty, COUNT(*) AS n FROM trades [RANGE 1 MINUTE] GROUP BY CUBE (symbol, qty);
SELECT symbol, qty, COUNT(*) AS n FROM trades [RANGE 1 MINUTE] GROUP BY GROUPING SETS ((symbol, qty), (symbol), qty, ());

== ORDER BY and LIMIT
-- The two highest prices, as they change.
SELECT symbol, price FROM trades [RANGE 10 MINUTES] ORDER BY price DESC LIMIT 2 EMIT CHANGES;
-- forms
SELECT symbol, price FROM trades [RANGE 1 MINUTE] ORDER BY price DESC NULLS LAST, symbol ASC NULLS FIRST LIMIT 2 OFFSET 1;
SELECT symbol, price FROM trades [RANGE 1 MINUTE] ORDER BY price FETCH FIRST 1 ROW WITH TIES;
SELECT symbol, price FROM trades [RANGE 1 MINUTE] ORDER BY price FETCH NEXT 2 ROWS ONLY;

== WINDOW
-- The same window for both streams.
SELECT t.symbol, t.price, q.bid FROM trades AS t, quotes AS q WHERE t.symbol = q.symbol AND t.qty > 4 WINDOW 2 MINUTES;
-- forms
SELECT symbol FROM trades WINDOW [RANGE 1 MINUTE];
SELECT symbol FROM trades WINDOW ROWS 3;
SELECT symbol, SUM(qty) OVER w AS s, RANK() OVER (w ORDER BY price) AS r FROM trades [RANGE 1 MINUTE] WINDOW w AS (PARTITION BY symbol);
SELECT symbol, SUM(qty) OVER w AS s, SUM(qty) OVER u AS r FROM trades [RANGE 1 MINUTE] WINDOW w AS (PARTITION BY symbol), u AS (PARTITION BY qty);

== FROM
-- A sub-query, whose streams have their windows inside.
SELECT s.symbol, s.n FROM (SELECT symbol, COUNT(*) AS n FROM trades [RANGE 5 MINUTES] GROUP BY symbol) AS s WHERE s.n > 1;
-- The content of a table as of the row's time.
SELECT t.symbol, t.price, r.rating FROM trades AS t JOIN ratings FOR SYSTEM_TIME AS OF t.ts AS r ON t.symbol = r.symbol WHERE t.qty > 2;
-- forms
SELECT t.symbol FROM trades [RANGE 1 MINUTE] t;
SELECT t.symbol FROM trades AS t [RANGE 1 MINUTE];
SELECT t.a FROM trades [NOW] AS t (time, a, b, c);
SELECT t.symbol FROM (SELECT * FROM trades) AS t [RANGE 1 MINUTE];
SELECT t.symbol FROM (SELECT * FROM trades) [RANGE 1 MINUTE] AS t;
SELECT t.symbol, l.m FROM trades [RANGE 1 MINUTE] AS t, LATERAL (SELECT MAX(q.bid) AS m FROM quotes [RANGE 1 MINUTE] AS q WHERE q.symbol = t.symbol) AS l;
CREATE FUNCTION words(t STRING) RETURNS TABLE (word STRING) LANGUAGE PYTHON AS $$ words = lambda t: [(w,) for w in t.split()] $$ WITH (kind = 'python'); SELECT v.page, w.word FROM visits [NOW] AS v, LATERAL words(v.page) AS w;

== Windows
-- The last two rows of each symbol; when a third comes, the first of them leaves.
SELECT symbol, price FROM trades [PARTITION BY symbol ROWS 2] EMIT CHANGES;
-- Windows of ten minutes, of which one begins every five.
SELECT symbol, window_end, SUM(qty) AS qty FROM trades [HOP 10 MINUTES EVERY 5 MINUTES] WHERE symbol = 'A' GROUP BY symbol, window_start, window_end;
-- Rows between which no more than three minutes pass.
SELECT symbol, COUNT(*) AS n, window_start, window_end FROM trades [SESSION 3 MINUTES BY symbol] GROUP BY symbol, window_start, window_end;
-- forms
SELECT symbol FROM trades [NOW];
SELECT symbol FROM trades [UNBOUNDED];
SELECT symbol FROM trades [ROWS 3];
SELECT symbol FROM trades [PARTITION BY symbol, qty ROWS 3];
SELECT COUNT(*) AS n FROM trades [HOP 10 MINUTES EVERY 5 MINUTES OFFSET 1 MINUTE] GROUP BY window_start, window_end;
SELECT window_end, COUNT(*) AS n FROM trades [CUMULATE 1 HOUR EVERY 10 MINUTES] GROUP BY window_start, window_end;
SELECT window_end, COUNT(*) AS n FROM trades [CUMULATE 1 DAY EVERY 1 HOUR OFFSET 30 MINUTES] GROUP BY window_start, window_end;
SELECT COUNT(*) AS n FROM trades [SESSION 3 MINUTES BY symbol, qty] GROUP BY symbol, qty, window_start, window_end;
SELECT COUNT(*) AS n FROM trades [SESSION 3 MINUTES] GROUP BY window_start, window_end;

== Window functions
-- Windows of ten minutes, as in the standard.
SELECT symbol, window_start, SUM(qty) AS qty FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) GROUP BY symbol, window_start, window_end;
-- forms
SELECT COUNT(*) AS n FROM HOP(trades, ts, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE) AS h GROUP BY window_start, window_end;
SELECT COUNT(*) AS n FROM CUMULATE(DATA => TABLE trades, TIMECOL => DESCRIPTOR(ts), STEP => INTERVAL '5' MINUTE, SIZE => INTERVAL '10' MINUTE) GROUP BY window_start, window_end;
SELECT symbol, COUNT(*) AS n FROM SESSION(TABLE trades PARTITION BY symbol, DESCRIPTOR(ts), INTERVAL '3' MINUTE) GROUP BY symbol, window_start, window_end;
SELECT symbol, COUNT(*) AS n FROM SESSION(TABLE trades PARTITION BY (symbol, qty), DESCRIPTOR(ts), INTERVAL '3' MINUTE) GROUP BY symbol, qty, window_start, window_end;
SELECT COUNT(*) AS n FROM TUMBLE((SELECT * FROM trades WHERE qty > 1), ts, INTERVAL '5' MINUTE) GROUP BY window_start, window_end;

== Joins
-- Trades and quotes of a symbol that are valid at the same time.
SELECT t.symbol, t.price, q.bid FROM trades [RANGE 3 MINUTES] AS t JOIN quotes [RANGE 1 MINUTE] AS q ON t.symbol = q.symbol;
-- Trades without a quote of the symbol: while there is none, a row with NULL.
SELECT t.symbol, t.price, q.bid FROM trades [RANGE 1 MINUTE] AS t LEFT JOIN quotes [RANGE 2 MINUTES] AS q ON t.symbol = q.symbol;
-- The latest quote of each trade.
SELECT t.symbol, t.price, q.bid FROM trades AS t ASOF LEFT JOIN quotes AS q ON t.symbol = q.symbol AND t.ts >= q.ts;
-- forms
SELECT t.symbol FROM trades [NOW] AS t, companies AS c WHERE t.symbol = c.symbol;
SELECT t.symbol FROM trades [NOW] AS t INNER JOIN companies AS c USING (symbol);
SELECT t.symbol FROM trades [RANGE 1 MINUTE] AS t CROSS JOIN quotes [RANGE 1 MINUTE] AS q;
SELECT t.symbol FROM trades [RANGE 1 MINUTE] AS t RIGHT OUTER JOIN quotes [RANGE 1 MINUTE] AS q ON t.symbol = q.symbol;
SELECT t.symbol FROM trades [RANGE 1 MINUTE] AS t FULL JOIN quotes [RANGE 1 MINUTE] AS q ON t.symbol = q.symbol;
SELECT t.symbol FROM trades [RANGE 1 MINUTE] AS t LEFT SEMI JOIN quotes [RANGE 1 MINUTE] AS q ON t.symbol = q.symbol;
SELECT t.symbol FROM trades [RANGE 1 MINUTE] AS t LEFT ANTI JOIN quotes [RANGE 1 MINUTE] AS q ON t.symbol = q.symbol;
SELECT t.symbol FROM trades AS t ASOF JOIN quotes AS q MATCH_CONDITION (t.ts >= q.ts) ON t.symbol = q.symbol;
SELECT t.symbol FROM trades AS t ASOF JOIN quotes AS q USING (symbol, ts);

== Lists and rows in FROM
-- A row for each element of a list.
SELECT v.visitor, tag FROM visits [NOW] AS v, UNNEST(v.tags) AS t (tag);
-- Rows that are written in the query.
SELECT t.symbol, n.name FROM trades [NOW] AS t JOIN (VALUES ('A', 'Anvil'), ('B', 'Bolt')) AS n (symbol, name) ON t.symbol = n.symbol WHERE t.qty > 3;
-- forms
SELECT visitor, x FROM visits [NOW] LATERAL VIEW explode(tags) t AS x;
SELECT visitor, a, b FROM visits [NOW] LATERAL VIEW OUTER inline(array(named_struct('a', 1, 'b', 2))) t AS a, b;
SELECT v.visitor, t.x, t.n FROM visits [NOW] AS v, UNNEST(v.tags) WITH ORDINALITY AS t (x, n);
SELECT v.visitor, t.x FROM visits [NOW] AS v, explode(v.tags) AS t (x);
SELECT v.visitor, t.x FROM visits [NOW] AS v LEFT JOIN EXPLODE_OUTER(v.tags) AS t (x) ON TRUE;
SELECT v.visitor, t.a FROM visits [NOW] AS v, INLINE(array(named_struct('a', 1))) AS t (a);
SELECT v.visitor, t.a FROM visits [NOW] AS v, INLINE_OUTER(array(named_struct('a', 1))) AS t (a);
SELECT t.symbol FROM trades [NOW] AS t, VALUES ('A'), ('B') AS n (symbol) WHERE t.symbol = n.symbol;
SELECT t.symbol FROM trades [NOW] AS t, (VALUES 'A', 'B') AS n (symbol) WHERE t.symbol = n.symbol;

== MATCH_RECOGNIZE
-- Prices above 9, and then a fall.
SELECT * FROM trades MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES FIRST(UP.price) AS high, DOWN.price AS low
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
  PATTERN (UP+ DOWN) WITHIN INTERVAL '10' MINUTE
  DEFINE UP AS UP.price > 9, DOWN AS DOWN.price < PREV(DOWN.price)
) AS m;
-- forms
SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol, qty ORDER BY ts MEASURES RUNNING COUNT(A.ts) AS n, FINAL LAST(B.price) AS p ALL ROWS PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (^ A{2} B? C*?) WITHIN 1 HOUR SUBSET U = (A, B), W = (A, C) DEFINE A AS A.price > 1, B AS B.price > 2, C AS C.price > 3);
SELECT m.n FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS n AFTER MATCH SKIP TO FIRST B PATTERN (A (B | C){1,3} D) DEFINE A AS A.qty > 1, B AS B.qty > 2, C AS C.qty > 3) AS m;
SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS a AFTER MATCH SKIP TO LAST A PATTERN (PERMUTE(A, B) C | D{,2} E) DEFINE A AS A.qty > 1, B AS B.qty > 2);
SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS a AFTER MATCH SKIP TO B PATTERN (A{2,} B) WITHIN 1 HOUR DEFINE A AS A.qty > 1);

== Expressions
-- Comparisons and NULL: a condition that is NULL counts as not true.
SELECT symbol, price, qty FROM trades [NOW] WHERE price BETWEEN 10 AND 20 AND NOT qty IN (1, 2) OR symbol IS NULL;
-- A sub-query in a condition.
SELECT t.symbol, t.price FROM trades [RANGE 5 MINUTES] AS t WHERE t.price > ALL (SELECT q.bid FROM quotes [RANGE 5 MINUTES] AS q);
-- forms
SELECT symbol FROM trades [NOW] WHERE qty = 1 OR qty == 2 OR qty <> 3 OR qty != 4 OR qty < 5 OR qty <= 6 OR qty > 7 OR qty >= 8 OR qty <=> NULL;
SELECT symbol FROM trades [NOW] WHERE symbol ILIKE 'a%' AND symbol NOT RLIKE '^b' AND symbol SIMILAR TO '(A|B)%' AND symbol LIKE 'A!%' ESCAPE '!';
SELECT symbol FROM trades [NOW] WHERE symbol ~ '^A' OR symbol ~* '^a';
SELECT symbol FROM trades [NOW] WHERE qty NOT BETWEEN 1 AND 2 AND (qty > 1) IS TRUE AND (qty > 1) IS NOT FALSE AND qty IS DISTINCT FROM 3 AND qty IS NOT NULL;
SELECT qty + 1 - 2 AS a, symbol || 'x' AS b, qty & 1 AS c, qty | 1 AS d, qty << 1 AS f, qty >> 1 AS g, qty * 2 / 3 % 4 AS h, qty DIV 2 AS i, - qty AS j, + qty AS k, ~ qty AS l FROM trades [NOW];
SELECT t.symbol FROM trades [RANGE 1 MINUTE] AS t WHERE t.symbol NOT IN (SELECT symbol FROM quotes [RANGE 1 MINUTE]) AND t.price < ANY (SELECT bid FROM quotes [RANGE 1 MINUTE]) AND t.price > SOME (SELECT bid FROM quotes [RANGE 1 MINUTE]);

== Values
-- Elements of a list and values in JSON.
SELECT visitor, tags[0] AS first, body ->> 'ms' AS ms, (body ->> 'ms')::INT + 1 AS more FROM visits [NOW] WHERE body -> 'ms' IS NOT NULL;
-- A sub-query as a value.
SELECT t.symbol, t.price, (SELECT MAX(q.bid) FROM quotes [RANGE 10 MINUTES] AS q WHERE q.symbol = t.symbol) AS bid FROM trades [RANGE 1 MINUTE] AS t WHERE t.qty >= 4;
-- forms
SELECT symbol, ts + INTERVAL '1' HOUR AS later, DATE '2026-03-02' AS d, TIMESTAMP '2026-03-02 08:00:00' AS t, TRUE AS a, FALSE AS b, NULL AS c FROM trades [NOW] WHERE ts AT TIME ZONE 'Asia/Tokyo' > TIMESTAMP '2026-03-02 00:00:00';
SELECT symbol FROM trades [RANGE 1 MINUTE] AS t WHERE EXISTS (SELECT * FROM quotes [RANGE 1 MINUTE] AS q WHERE q.symbol = t.symbol);
SELECT symbol FROM trades [RANGE 1 MINUTE] WHERE (symbol, qty) IN (SELECT symbol, 1 FROM quotes [RANGE 1 MINUTE]);
SELECT transform(tags, t -> upper(t)) AS a, zip_with(tags, tags, (x, y) -> x || y) AS b FROM visits [NOW];
SELECT named_struct('a', qty).a AS a FROM trades [NOW] WHERE qty > 1 AND (qty < 9);

== CASE and conversions
-- A class of each trade.
SELECT symbol, CASE WHEN qty >= 4 THEN 'large' WHEN qty >= 2 THEN 'medium' ELSE 'small' END AS class, CAST(price AS BIGINT) AS price FROM trades [NOW];
-- forms
SELECT CASE symbol WHEN 'A' THEN 1 END AS a, TRY_CAST(symbol AS INT) AS b FROM trades [NOW];

== Calls
-- Aggregates with their clauses.
SELECT COUNT(*) AS n, COUNT(DISTINCT symbol) AS symbols, SUM(qty) FILTER (WHERE symbol = 'A') AS of_a,
       string_agg(symbol, '') AS list FROM trades [RANGE 10 MINUTES] EMIT SNAPSHOT EVERY 10 MINUTES;
-- forms
SELECT first(price ORDER BY qty DESC) AS a, last(price) IGNORE NULLS AS b, last(price IGNORE NULLS) AS c, percentile_cont(0.5) WITHIN GROUP (ORDER BY price) AS d FROM trades [RANGE 1 MINUTE];
SELECT first(price) RESPECT NULLS AS a, first(price RESPECT NULLS) AS b FROM trades [RANGE 1 MINUTE];
SELECT EXTRACT(HOUR FROM ts) AS a, SUBSTRING(symbol FROM 1 FOR 1) AS b, TRIM(BOTH 'x' FROM symbol) AS c, POSITION('A' IN symbol) AS d, OVERLAY(symbol PLACING 'x' FROM 1 FOR 1) AS e, FLOOR(ts TO HOUR) AS f FROM trades [NOW];
SELECT TRIM(LEADING 'x' FROM symbol) AS a, TRIM(TRAILING 'x' FROM symbol) AS b, pi() AS c FROM trades [NOW];
SELECT JSON_VALUE(body, '$.ms' RETURNING INT DEFAULT 0 ON EMPTY NULL ON ERROR) AS ms FROM visits [NOW];

== OVER
-- The change of a price since the trade before.
SELECT symbol, price, price - LAG(price) OVER (PARTITION BY symbol ORDER BY ts) AS change FROM trades;
-- The mean of the last five minutes, with each trade.
SELECT symbol, price, AVG(price) OVER (PARTITION BY symbol ORDER BY ts RANGE BETWEEN INTERVAL '5' MINUTE PRECEDING AND CURRENT ROW) AS mean FROM trades;
-- forms
SELECT symbol, SUM(qty) OVER (PARTITION BY symbol, qty ORDER BY ts ROWS 2 PRECEDING) AS a FROM trades;
SELECT symbol, SUM(qty) OVER (PARTITION BY symbol ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS a FROM trades;
SELECT symbol, SUM(qty) OVER (PARTITION BY symbol ORDER BY ts GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE GROUP) AS a FROM trades [RANGE 1 MINUTE];
SELECT symbol, SUM(qty) OVER (ORDER BY ts ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE TIES) AS a FROM trades [RANGE 1 MINUTE];
