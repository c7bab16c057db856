-- Ten standing queries over two groups of streams: run it with `eddyline demo`.
--
-- The network: one hour of TCP connections of the Lawrence Berkeley Laboratory, 21 January 1994.
-- The airports: every departure from New York's three airports in 2013.
-- Spark reads files in the order of their modification times; `make setup` sets them.
-- Origin of the data: data/README.md. Paths are relative to this file.

CREATE STREAM connections (
  ts TIMESTAMP, src BIGINT, sport INT, dst BIGINT, dport INT,
  protocol STRING, state STRING, duration DOUBLE, orig_bytes BIGINT, resp_bytes BIGINT
) TIMESTAMP BY ts
  WITH (source = 'parquet', path = 'data/connections', maxFilesPerTrigger = 1);

-- The flights are in the order of the timetable, but an event is the actual departure: rows are
-- out of order, and cancelled flights without a departure time are written to the bad-rows output.
CREATE STREAM newark (
  sched_dep_ts TIMESTAMP, dep_ts TIMESTAMP, dep_delay_min INT, arr_delay_min INT,
  air_time_min INT, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING,
  distance_mi INT
) TIMESTAMP BY dep_ts LATENESS 6 HOURS
  WITH (source = 'parquet', path = 'data/flights/newark', maxFilesPerTrigger = 1);

CREATE STREAM kennedy (
  sched_dep_ts TIMESTAMP, dep_ts TIMESTAMP, dep_delay_min INT, arr_delay_min INT,
  air_time_min INT, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING,
  distance_mi INT
) TIMESTAMP BY dep_ts LATENESS 6 HOURS
  WITH (source = 'parquet', path = 'data/flights/kennedy', maxFilesPerTrigger = 1);

CREATE STREAM laguardia (
  sched_dep_ts TIMESTAMP, dep_ts TIMESTAMP, dep_delay_min INT, arr_delay_min INT,
  air_time_min INT, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING,
  distance_mi INT
) TIMESTAMP BY dep_ts LATENESS 6 HOURS
  WITH (source = 'parquet', path = 'data/flights/laguardia', maxFilesPerTrigger = 1);

CREATE TABLE airlines (carrier STRING, name STRING)
  WITH (source = 'parquet', path = 'data/airlines');

-- Selection: connections that were refused, reset or never answered.
CREATE QUERY failed_connections AS
  SELECT ts, src, dst, dport, protocol, state
  FROM connections [RANGE 1 MINUTE]
  WHERE state IN ('REJ', 'S0', 'RSTO', 'RSTR');

-- Two-way window join of a stream with itself: the files that an FTP session moves. The server
-- opens each data connection back to the client, within 5 minutes of the session's start.
CREATE QUERY ftp_transfers AS
  SELECT session.src AS client, session.dst AS server, transfer.ts, transfer.orig_bytes
  FROM connections [RANGE 5 MINUTES] AS session, connections [RANGE 30 SECONDS] AS transfer
  WHERE session.protocol = 'ftp' AND transfer.protocol = 'ftp-data'
    AND transfer.src = session.dst AND transfer.dst = session.src;

-- GROUP BY over a sliding window, with HAVING: links with a burst of connections.
CREATE QUERY busy_links AS
  SELECT dst, COUNT(*) AS connections, SUM(resp_bytes) AS bytes
  FROM connections [RANGE 1 MINUTE]
  GROUP BY dst
  HAVING COUNT(*) >= 10;

-- DISTINCT: clients and servers of web pages, each pair once while it is active. EMIT CHANGES also
-- reports when a pair becomes inactive.
CREATE QUERY web_readers AS
  SELECT DISTINCT src, dst
  FROM connections [RANGE 5 MINUTES]
  WHERE protocol = 'www'
  EMIT CHANGES;

-- ROWS window: hosts that failed at least 3 times in the last 5 connections made to them.
CREATE QUERY unreachable_hosts AS
  SELECT dst, COUNT(*) AS failures
  FROM connections [PARTITION BY dst ROWS 5]
  WHERE state IN ('REJ', 'S0', 'RSTO')
  GROUP BY dst
  HAVING COUNT(*) >= 3;

-- Three-way window join: one airline flies to one place from all three airports within minutes.
CREATE QUERY same_place_same_time AS
  SELECT n.carrier, n.dest, n.flight AS from_newark, k.flight AS from_kennedy,
         l.flight AS from_laguardia
  FROM newark [RANGE 10 MINUTES] AS n, kennedy [RANGE 10 MINUTES] AS k,
       laguardia [RANGE 5 MINUTES] AS l
  WHERE n.carrier = k.carrier AND n.dest = k.dest
    AND k.carrier = l.carrier AND k.dest = l.dest;

-- Window join with a table: planes that leave from two airports on one day, by airline.
CREATE QUERY planes_that_moved AS
  SELECT a.name AS airline, n.tailnum, n.dep_ts AS left_newark, l.dep_ts AS left_laguardia
  FROM newark [RANGE 12 HOURS] AS n, laguardia [RANGE 6 HOURS] AS l, airlines AS a
  WHERE n.tailnum = l.tailnum AND n.carrier = a.carrier;

-- UNION ALL of three streams: flights that left five hours late or more.
CREATE QUERY very_late AS
  SELECT dep_ts, origin, dest, carrier, flight, dep_delay_min
  FROM newark [RANGE 1 HOUR] WHERE dep_delay_min >= 300
  UNION ALL
  SELECT dep_ts, origin, dest, carrier, flight, dep_delay_min
  FROM kennedy [RANGE 1 HOUR] WHERE dep_delay_min >= 300
  UNION ALL
  SELECT dep_ts, origin, dest, carrier, flight, dep_delay_min
  FROM laguardia [RANGE 1 HOUR] WHERE dep_delay_min >= 300;

-- GROUP BY over a sliding window with several aggregates: delayed destinations from Kennedy.
CREATE QUERY troubled_destinations AS
  SELECT dest, COUNT(*) AS flights, AVG(dep_delay_min) AS mean_delay_min,
         MAX(dep_delay_min) AS longest_delay_min
  FROM kennedy [RANGE 2 HOURS]
  GROUP BY dest
  HAVING COUNT(*) >= 5 AND AVG(dep_delay_min) > 90;

-- The whole answer once a day: delays of each airline at Newark in the last 24 hours.
CREATE QUERY airline_day AS
  SELECT a.name AS airline, COUNT(*) AS flights, AVG(n.dep_delay_min) AS mean_delay_min
  FROM newark [RANGE 1 DAY] AS n JOIN airlines AS a ON n.carrier = a.carrier
  GROUP BY a.name
  EMIT SNAPSHOT EVERY 1 DAY;
