select * from trades#time(10 sec)
=>
UnsupportedError: line 1, column 21: #time(...) is not supported: write FROM s [RANGE 10 SECONDS]
  select * from trades#time(10 sec)
                      ^
----------
select * from trades#length(5)
=>
UnsupportedError: line 1, column 21: #length(...) is not supported: write FROM s [ROWS 5]
  select * from trades#length(5)
                      ^
----------
select * from trades.win:time_batch(10 sec)
=>
UnsupportedError: line 1, column 21: #time_batch(...) is not supported: write FROM s [TUMBLE 10 SECONDS], with GROUP BY window_start, window_end
  select * from trades.win:time_batch(10 sec)
                      ^
----------
select * from trades#time_batch(1 min)
=>
UnsupportedError: line 1, column 21: #time_batch(...) is not supported: write FROM s [TUMBLE 10 SECONDS], with GROUP BY window_start, window_end
  select * from trades#time_batch(1 min)
                      ^
----------
select * from trades#lastevent
=>
UnsupportedError: line 1, column 21: #lastevent is not supported: write FROM s [ROWS 1]
  select * from trades#lastevent
                      ^
----------
select * from trades#unique(symbol)
=>
UnsupportedError: line 1, column 21: #unique(...) is not supported: write FROM s [PARTITION BY k ROWS 1]
  select * from trades#unique(symbol)
                      ^
----------
select * from trades#groupwin(symbol)#length(3)
=>
UnsupportedError: line 1, column 21: #groupwin(...) is not supported: write FROM s [PARTITION BY k ROWS 3]
  select * from trades#groupwin(symbol)#length(3)
                      ^
----------
select * from trades#keepall
=>
UnsupportedError: line 1, column 21: #keepall is not supported: write FROM s [UNBOUNDED]
  select * from trades#keepall
                      ^
----------
select * from pattern [every a=trades -> b=quotes(symbol=a.symbol)]
=>
UnsupportedError: line 1, column 10: pattern [...] is not supported: write FROM s MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts ... PATTERN (A B) WITHIN INTERVAL '10' SECOND ...), or for what is missing WHERE NOT EXISTS (SELECT ...)
  select * from pattern [every a=trades -> b=quotes(symbol=a.symbol)]
           ^
----------
select * from pattern [every (trades and not quotes) where timer:within(10 sec)]
=>
UnsupportedError: line 1, column 10: pattern [...] is not supported: write FROM s MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts ... PATTERN (A B) WITHIN INTERVAL '10' SECOND ...), or for what is missing WHERE NOT EXISTS (SELECT ...)
  select * from pattern [every (trades and not quotes) where timer:within(10 sec)]
           ^
----------
select istream symbol from trades#time(10 sec)
=>
UnsupportedError: line 1, column 8: SELECT istream is not supported: write EMIT INSERTS, the default, behind the SELECT
  select istream symbol from trades#time(10 sec)
         ^
----------
select rstream symbol from trades#time(10 sec)
=>
UnsupportedError: line 1, column 8: SELECT rstream is not supported: write EMIT CHANGES behind the SELECT: rows that leave have _op '-'
  select rstream symbol from trades#time(10 sec)
         ^
----------
insert into Large select * from trades(qty > 10)
=>
SqlError: line 1, column 1: unknown statement; write CREATE QUERY name AS SELECT ... WITH (sink = ...)
  insert into Large select * from trades(qty > 10)
  ^
----------
select symbol, avg(price) as p from trades [NOW] group by symbol output last every 5 seconds
=>
UnsupportedError: line 1, column 66: OUTPUT EVERY is not supported: write EMIT SNAPSHOT EVERY 5 SECONDS at the end, or EMIT CHANGES for each change
  select symbol, avg(price) as p from trades [NOW] group by symbol output last every 5 seconds
                                                                   ^
----------
select symbol, avg(price) as p from trades [NOW] group by symbol output snapshot every 5 seconds
=>
UnsupportedError: line 1, column 66: OUTPUT EVERY is not supported: write EMIT SNAPSHOT EVERY 5 SECONDS at the end, or EMIT CHANGES for each change
  select symbol, avg(price) as p from trades [NOW] group by symbol output snapshot every 5 seconds
                                                                   ^
----------
create schema Trade (symbol string, price double)
=>
UnsupportedError: line 1, column 1: CREATE SCHEMA name (...) is not supported: write CREATE STREAM name (columns) TIMESTAMP BY ts
  create schema Trade (symbol string, price double)
  ^
----------
create window Recent#time(1 min) as trades
=>
UnsupportedError: line 1, column 1: CREATE WINDOW is not supported: write CREATE VIEW name AS SELECT * FROM s [RANGE 1 MINUTE]
  create window Recent#time(1 min) as trades
  ^
----------
create context BySymbol partition by symbol from trades
=>
UnsupportedError: line 1, column 1: CREATE CONTEXT is not supported: write GROUP BY k, or FROM s [PARTITION BY k ROWS 10]
  create context BySymbol partition by symbol from trades
  ^
----------
on trades delete from Recent
=>
UnsupportedError: line 1, column 1: ON an event is not supported: changes of a table are supplied with _op '+' or '-': CREATE TABLE ... WITH (updates = 'retroactive')
  on trades delete from Recent
  ^
----------
select prev(1, price) as p, prior(2, price) as q from trades#length(5)
=>
UnsupportedError: line 1, column 8: prev(...) or prior(...) is not supported: write LAG(x) OVER (PARTITION BY k ORDER BY ts)
  select prev(1, price) as p, prior(2, price) as q from trades#length(5)
         ^
----------
select symbol, price from trades where price > 10 output first every 1 minute
=>
UnsupportedError: line 1, column 51: OUTPUT FIRST EVERY is not supported: write QUALIFY ROW_NUMBER() OVER (PARTITION BY k, window_start ORDER BY ts) = 1 over FROM s [TUMBLE 1 MINUTE]
  select symbol, price from trades where price > 10 output first every 1 minute
                                                    ^
----------
select symbol, price from trades where price > 10 output all every 1 minute
=>
UnsupportedError: line 1, column 51: OUTPUT ALL EVERY is not supported: write FROM s [TUMBLE 1 MINUTE] and EMIT FINAL at the end
  select symbol, price from trades where price > 10 output all every 1 minute
                                                    ^
----------
