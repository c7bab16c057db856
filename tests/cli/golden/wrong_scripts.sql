-- an unknown source
CREATE STREAM t (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'jsn', path = 'in');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 83: stream 't': there is no source 'jsn'; did you mean 'json'? valid: csv, delta, jdbc, json, kafka, orc, parquet, rate, rate-micro-batch, socket, text, xml; for a format of a package, use the name of its class
----------
-- an unknown sink
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'postgre', table = 't');
=>
error: line 2, column 57: 'q': there is no sink 'postgre'; did you mean 'postgres'? valid: csv, delta, iceberg, jdbc, json, kafka, memory, noop, orc, parquet, postgres, print, python, text, webhook, xml; for a format of a package, use the name of its class
----------
-- an unknown format of records
CREATE STREAM t (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'kafka', kafka.bootstrap.servers = 'h:9092', subscribe = 't', format = 'jsno');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 154: stream 't': there is no format 'jsno' of records; did you mean 'json'? valid: avro, csv, json, protobuf
----------
-- records without a format
CREATE STREAM t (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'kafka', kafka.bootstrap.servers = 'h:9092', subscribe = 't');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 83: stream 't': without the option 'format' the source 'kafka' has the columns headers, key, offset, partition, timestamp, timestampType, topic, value, and no 'ts'; if it is in the messages, set format = 'json', 'csv', 'avro', 'protobuf'
----------
-- an unknown option of a source
CREATE STREAM t (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'json', path = 'in', maxFilePerTrigger = 1);
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 104: stream 't': the source 'json' has no option 'maxFilePerTrigger'; did you mean 'maxFilesPerTrigger'? nearest: ...
----------
-- an unknown option of a sink
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'postgres', url = 'postgresql://h/db', table = 't', tabel = 'u');
=>
error: line 2, column 109: 'q': the sink 'postgres' has no option 'tabel'; did you mean 'table'? valid: database, host, key, max_waiting_bytes, mode, on_failure, password_env, port, seq, shared, sink, table, url, user
----------
-- an option that is missing
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'kafka', kafka.bootstrap.servers = 'h:9092');
=>
error: line 2, column 57: 'q': the sink 'kafka' needs the option 'topic'
----------
-- a path that is missing
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'parquet');
=>
error: line 2, column 57: 'q': the sink 'parquet' needs the option 'path'
----------
-- a path of a source that is not there
CREATE STREAM t (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'json', path = 'nowhere');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
script.sql: warning: stream 't': there is no file or directory 'DIR/nowhere' here
----------
-- an unknown type
CREATE STREAM t (ts TIMESTAMP, v DUBLE) TIMESTAMP BY ts WITH (source = 'json', path = 'in');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 34: expected a type, got 'DUBLE'; did you mean 'DOUBLE'? valid: ARRAY, BIGINT, BINARY, BOOLEAN, CHAR, DATE, DECIMAL, DOUBLE, FLOAT, INT, INTEGER, LONG, MAP, REAL, SMALLINT, STRING, STRUCT, TIMESTAMP, TINYINT, VARCHAR
----------
-- a column of an array of an unknown type
CREATE STREAM t (ts TIMESTAMP, v ARRAY<STRIN>) TIMESTAMP BY ts WITH (source = 'json', path = 'in');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 40: expecting >
----------
-- an event time that is no column
CREATE STREAM t (time TIMESTAMP, v DOUBLE) TIMESTAMP BY ts WITH (source = 'json', path = 'in');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 57: there is no column 'ts'; valid: time, v
----------
-- a computed column of an unknown function
CREATE STREAM t (ms BIGINT, v DOUBLE, ts TIMESTAMP AS (timestamp_milis(ms))) TIMESTAMP BY ts WITH (source = 'json', path = 'in');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 56: there is no function timestamp_milis; did you mean 'timestamp_millis'? nearest: ...
----------
-- a computed column of another type
CREATE STREAM t (ms BIGINT, v DOUBLE, ts TIMESTAMP AS (v > 1)) TIMESTAMP BY ts WITH (source = 'json', path = 'in');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 56: an event time must be a TIMESTAMP, and this is BOOLEAN; for a number since 1970 write timestamp_seconds(...), timestamp_millis(...), timestamp_micros(...) or timestamp_nanos(...)
----------
-- a computed column of a computed column
CREATE STREAM t (ms BIGINT, m BIGINT AS (ms + 1), ts TIMESTAMP AS (timestamp_millis(m)), v DOUBLE) TIMESTAMP BY ts WITH (source = 'json', path = 'in');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 85: column 'm' is computed too: write its expression here
----------
-- a path of JSON that is none
CREATE STREAM t (ts TIMESTAMP, v DOUBLE PATH 'order.price') TIMESTAMP BY ts WITH (source = 'json', path = 'in');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 46: 'order.price' is no path; write it like '$.order.price', '$.items[0].id' or '$[''a name'']'
----------
-- a path of JSON with a wildcard
CREATE STREAM t (ts TIMESTAMP, v DOUBLE PATH '$.order[*].price') TIMESTAMP BY ts WITH (source = 'json', path = 'in');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 46: '$.order[*].price' is no path from '[*].price' on; write it like '$.order.price', '$.items[0].id' or '$[''a name'']'
----------
-- a path of JSON that is not closed
CREATE STREAM t (ts TIMESTAMP, v DOUBLE PATH '$.order[0') TIMESTAMP BY ts WITH (source = 'json', path = 'in');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 46: '$.order[0' is no path from '[0' on; write it like '$.order.price', '$.items[0].id' or '$[''a name'']'
----------
-- a value that is read as a whole and in parts
CREATE STREAM t (ts TIMESTAMP, o STRING PATH '$.o', v DOUBLE PATH '$.o.v') TIMESTAMP BY ts WITH (source = 'json', path = 'in');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 67: 'o' reads $.o as a whole, and 'v' a part of it: declare one of them
----------
-- a path in CSV
CREATE STREAM t (ts TIMESTAMP, v DOUBLE PATH '$.v') TIMESTAMP BY ts WITH (source = 'csv', path = 'in');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 41: stream 't': PATH is for records of JSON, Avro or Protobuf, and the source is 'csv'; declare columns by their names
----------
-- metadata that Kafka has not
CREATE STREAM t (ts TIMESTAMP METADATA FROM 'time', v DOUBLE) TIMESTAMP BY ts WITH (source = 'kafka', kafka.bootstrap.servers = 'h:9092', subscribe = 't', format = 'json');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 45: stream 't', column 'ts': the source 'kafka' has no METADATA 'time'; did you mean 'timestamp'? valid: headers, headers.NAME, key, offset, partition, timestamp, timestampType, topic, value
----------
-- a wrong lateness
CREATE STREAM t (ts TIMESTAMP, v DOUBLE) TIMESTAMP BY ts LATENESS 5 PARSECS WITH (source = 'json', path = 'in');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 69: unknown time unit 'PARSECS'; valid: DAYS, HOURS, MICROSECONDS, MILLISECONDS, MINUTES, SECONDS, WEEKS
----------
-- a negative lateness
CREATE STREAM t (ts TIMESTAMP, v DOUBLE) TIMESTAMP BY ts LATENESS -5 SECONDS WITH (source = 'json', path = 'in');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 67: LATENESS cannot be negative
----------
-- a wrong window
CREATE QUERY q AS SELECT v FROM s [RANGE 5 MINUTS];
=>
error: line 2, column 44: unknown time unit 'MINUTS'; did you mean 'MINUTES'? valid: DAYS, HOURS, MICROSECONDS, MILLISECONDS, MINUTES, SECONDS, WEEKS
----------
-- a wrong ts_unit
CREATE STREAM t (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'json', path = 'in', ts_unit = 'min');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 114: unknown option ts_unit = 'min'; valid: ms, ns, s, us
----------
-- a wrong number of files
CREATE STREAM t (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'json', path = 'in', maxFilesPerTrigger = 'few');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 125: stream 't': the source 'json': maxFilesPerTrigger: 'few' is not a number above 0
----------
-- wrong offsets
CREATE STREAM t (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'kafka', kafka.bootstrap.servers = 'h:9092', subscribe = 't', format = 'json', startingOffsets = 'earlyest');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 180: stream 't': the source 'kafka': startingOffsets: 'earlyest' is neither earliest nor latest, nor JSON of topics
----------
-- two choices of topics
CREATE STREAM t (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'kafka', kafka.bootstrap.servers = 'h:9092', subscribe = 't', format = 'json', subscribePattern = 't.*');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 162: stream 't': the source 'kafka': 'subscribe' and 'subscribePattern' exclude each other
----------
-- ending offsets of a stream
CREATE STREAM t (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'kafka', kafka.bootstrap.servers = 'h:9092', subscribe = 't', format = 'json', endingOffsets = 'latest');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 162: stream 't': the source 'kafka': 'endingOffsets' is for static tables only
----------
-- a broker without a port
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'kafka', kafka.bootstrap.servers = 'h', topic = 't');
=>
error: line 2, column 92: 'q': the sink 'kafka': kafka.bootstrap.servers: 'h' is not of the form host:port
----------
-- a wrong truth value
CREATE STREAM t (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'csv', path = 'in', header = 'yes');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 112: stream 't': the source 'csv': header: 'yes' is neither 'true' nor 'false'
----------
-- an encoding that is not there
CREATE STREAM t (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'json', path = 'in', encoding = 'utf-9');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 115: stream 't': the source 'json': encoding: there is no encoding 'utf-9'
----------
-- columns that a generator has not
CREATE STREAM t (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'rate', rowsPerSecond = 5);
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 83: stream 't': the source 'rate' has no column 'ts'; valid: timestamp, value
----------
-- a wrong port
CREATE STREAM t (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts WITH (source = 'socket', host = 'h', port = 'http', format = 'json');
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 112: stream 't': the source 'socket': port: 'http' is not the number of a port
----------
-- a wrong compression
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'parquet', path = 'out', compression = 'gzp');
=>
error: line 2, column 96: 'q': the sink 'parquet': compression: 'gzp': did you mean 'gzip'? valid: brotli, gzip, lz4, lz4_raw, lzo, none, snappy, uncompressed, zstd
----------
-- a wrong interval of files
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'parquet', path = 'out', roll_interval = 'often');
=>
error: line 2, column 98: 'q': roll_interval = 'often': 'often' is not a duration such as '5 seconds'
----------
-- files of several batches that only Spark can write
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'parquet', path = 'out', roll_interval = '1 minute', compression = 'lz4');
=>
error: line 2, column 98: 'q': files of several batches (roll_interval, roll_bytes) are written by the driver, and with these options, columns or settings of the session only Spark writes parquet files (docs/sources-and-sinks.md, Who writes)
----------
-- files with one column
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'text', path = 'out');
=>
error: line 2, column 57: 'q': files of the format 'text' have one column, and rows have _op, _ts, _exp and those of the query; choose csv or json
----------
-- the column of the directories
CREATE QUERY q AS SELECT v AS eddyline_batch FROM s [NOW] WITH (sink = 'parquet', path = 'out');
=>
error: line 2, column 72: 'q': the directories of batches are a column 'eddyline_batch': rename that of the query
----------
-- a wrong mode
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'postgres', url = 'postgresql://h/db', table = 't', mode = 'upsrt', key = 'k');
=>
error: line 2, column 116: 'q': mode = 'upsrt': did you mean 'upsert'? valid: append, changelog, upsert
----------
-- a key without a mode
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'postgres', url = 'postgresql://h/db', table = 't', key = 'k');
=>
error: line 2, column 115: 'q': a key is for mode = 'upsert' only
----------
-- an answer of results that expire silently
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'postgres', url = 'postgresql://h/db', table = 't', mode = 'upsert', key = 'k');
=>
error: line 2, column 116: 'q': mode = 'upsert' needs EMIT CHANGES, or GROUP BY columns that are selected: results of this query expire without a row that says so
----------
-- an answer without a key
CREATE QUERY q AS SELECT k, v FROM s [NOW] EMIT CHANGES WITH (sink = 'postgres', url = 'postgresql://h/db', table = 't', mode = 'upsert');
=>
error: line 2, column 129: 'q': mode = 'upsert' needs the option key: columns of which no two rows of the answer have the same values; valid: k, v
----------
-- a key that is not selected
CREATE QUERY q AS SELECT v FROM s [NOW] EMIT CHANGES WITH (sink = 'postgres', url = 'postgresql://h/db', table = 't', mode = 'upsert', key = 'k');
=>
error: line 2, column 142: 'q': key: the query has no column 'k'; valid: v
----------
-- a key of messages that is not selected
CREATE QUERY q AS SELECT v FROM s [NOW] WITH (sink = 'kafka', kafka.bootstrap.servers = 'h:9092', topic = 't', key = 'k');
=>
error: line 2, column 118: 'q': key: the query has no column 'k'; valid: _exp, _op, _ts, v
----------
-- a changelog without EMIT CHANGES
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'delta', path = 'out', mode = 'changelog');
=>
error: line 2, column 87: 'q': mode = 'changelog' needs EMIT CHANGES: otherwise there is no '-' for results that expire or are replaced
----------
-- a number of changes of an answer
CREATE QUERY q AS SELECT k, COUNT(*) AS n FROM s [NOW] GROUP BY k WITH (sink = 'postgres', url = 'postgresql://h/db', table = 't', mode = 'upsert', seq = 'true');
=>
error: line 2, column 155: 'q': seq: a table with mode = 'upsert' has no changes: leave it out
----------
-- a number of changes that is a column
CREATE QUERY q AS SELECT v AS _seq FROM s [NOW] WITH (sink = 'parquet', path = 'out', seq = 'true');
=>
error: line 2, column 87: 'q': with seq = 'true' rows have a column '_seq' of their own: rename the column '_seq' of the query by AS
----------
-- a type that Delta has not
CREATE QUERY q AS SELECT ts - ts AS d FROM s [NOW] WITH (sink = 'delta', path = 'out');
=>
error: line 2, column 65: 'q': Delta has no type for INTERVAL, the type of 'd'
----------
-- a name that Delta has not
CREATE QUERY q AS SELECT v AS `a b` FROM s [NOW] WITH (sink = 'delta', path = 'out');
=>
error: line 2, column 63: 'q': no column of a Delta table can have the name 'a b': use AS
----------
-- a name that Iceberg has not
CREATE QUERY q AS SELECT v AS `a.b` FROM s [NOW] WITH (sink = 'iceberg', table = 'l.t', catalog_name = 'lake');
=>
error: line 2, column 63: 'q': no column of an Iceberg table can have the name 'a.b': use AS
----------
-- lists in an answer
CREATE QUERY q AS SELECT k, split(k, ',') AS p FROM s [NOW] EMIT CHANGES WITH (sink = 'iceberg', table = 'l.t', catalog_name = 'lake', mode = 'upsert', key = 'k');
=>
error: line 2, column 143: 'q': mode = 'upsert' with EMIT CHANGES takes no ARRAY<STRING>, the type of 'p': select its parts, as in a.b, a[0] or UNNEST(a)
----------
-- no catalog
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'iceberg', table = 'l.t');
=>
error: line 2, column 57: 'q': the sink 'iceberg' needs the option 'catalog' or 'catalog_name' or 'catalog_uri'
----------
-- an unknown catalog
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'iceberg', table = 'l.t', catalog = 'jdbc');
=>
error: line 2, column 93: 'q': catalog = 'jdbc': valid: bigquery, dynamodb, glue, hive, rest, sql
----------
-- a table without a namespace
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'iceberg', table = 't', catalog_name = 'lake');
=>
error: line 2, column 76: 'q': table = 't' is not of the form namespace.name
----------
-- a wrong URL of a database
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'postgres', url = 'postgresql://h:port/db', table = 't');
=>
error: line 2, column 75: 'q': url is not of the form postgresql://user@host:port/database
----------
-- a URL of another database
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'postgres', url = 'mysql://h/db', table = 't');
=>
error: line 2, column 75: 'q': url is not of the form postgresql://user@host:port/database
----------
-- a table that is no name
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'postgres', table = 'a.b.c');
=>
error: line 2, column 77: 'q': table = 'a.b.c' is not a name, or schema.name
----------
-- a wrong URL of JDBC
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'jdbc', url = 'postgresql://h/db', dbtable = 't');
=>
error: line 2, column 71: 'q': the sink 'jdbc': url: it is not of the form jdbc:DATABASE:...
----------
-- a wrong URL of a webhook
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'webhook', url = 'https://');
=>
error: line 2, column 74: 'q': url is not of the form https://host/path
----------
-- a URL with a second line
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'webhook', url = 'https://h/x y');
=>
error: line 2, column 74: 'q': url is not of the form https://host/path
----------
-- a wrong time limit
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'webhook', url = 'https://h/', timeout = 'long');
=>
error: line 2, column 98: 'q': timeout = 'long' is not a number of seconds
----------
-- bytes for a webhook
CREATE QUERY q AS SELECT b FROM s [NOW] WITH (sink = 'webhook', url = 'https://h/');
=>
error: line 2, column 54: 'q': sink 'webhook': nested and binary columns, and intervals, are not sent
----------
-- a function of no module
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'python', function = 'alert');
=>
error: line 2, column 78: 'q': function = 'alert': in a script it is 'module:name'
----------
-- a module that is not there
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'python', function = 'no_such_module:alert');
=>
script.sql: warning: 'q': function = 'no_such_module:alert': No module named 'no_such_module'; modules are looked for in PYTHONPATH
----------
-- a function that is not there
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'python', function = 'os:alert');
=>
script.sql: warning: 'q': function = 'os:alert': module 'os' has no attribute 'alert'; modules are looked for in PYTHONPATH
----------
-- a variable that is not set
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'webhook', url_env = 'NO_SUCH_VARIABLE');
=>
script.sql: warning: 'q': url_env: there is no environment variable 'NO_SUCH_VARIABLE' here
----------
-- a wrong policy for failures
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'kafka', kafka.bootstrap.servers = 'h:9092', topic = 't', on_failure = 'ignore');
=>
error: line 2, column 128: 'q': on_failure = 'ignore': valid: dead_letter, fail, wait
----------
-- a wrong size of what waits
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'kafka', kafka.bootstrap.servers = 'h:9092', topic = 't', max_waiting_bytes = '1 GB');
=>
error: line 2, column 135: 'q': max_waiting_bytes = '1 GB' is not a number of bytes
----------
-- two policies for one sink
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'parquet', path = 'out');
CREATE QUERY r AS SELECT k, v FROM s [NOW] WITH (sink = 'parquet', path = 'out', on_failure = 'fail');
=>
error: line 3, column 95: 'r': 'q' has the same sink, and another on_failure or max_waiting_bytes
----------
-- two formats at one path
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'parquet', path = 'out');
CREATE QUERY r AS SELECT k, v FROM s [NOW] WITH (sink = 'csv', path = './out');
=>
error: line 3, column 71: 'r': the path belongs to 'q', whose sink has another format or other options; choose another path
----------
-- two kinds of columns at one path
CREATE QUERY q AS SELECT k FROM s [NOW] WITH (sink = 'parquet', path = 'out');
CREATE QUERY r AS SELECT v FROM s [NOW] WITH (sink = 'parquet', path = 'out');
=>
error: line 3, column 72: 'r': the path belongs to 'q', which has other columns; choose another path
----------
-- two modes of one table
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'delta', path = 'out');
CREATE QUERY r AS SELECT k, v FROM s [NOW] WITH (sink = 'delta', path = 'out', mode = 'append');
=>
error: line 3, column 73: 'r': the path belongs to 'q', whose sink has other options; choose another path
----------
-- two modes of one table of a catalog
CREATE QUERY q AS SELECT k, v FROM s [NOW] WITH (sink = 'iceberg', table = 'l.t', catalog_name = 'lake');
CREATE QUERY r AS SELECT k, v FROM s [NOW] WITH (sink = 'iceberg', table = 'l.t', catalog_name = 'lake', mode = 'append');
=>
error: line 3, column 76: 'r': the table belongs to 'q', whose sink has other options; choose another table
----------
-- two kinds of columns in one table
CREATE QUERY q AS SELECT k FROM s [NOW] WITH (sink = 'postgres', url = 'postgresql://h/db', table = 't');
CREATE QUERY r AS SELECT v FROM s [NOW] WITH (sink = 'postgres', url = 'postgresql://h/db', table = 't');
=>
error: line 3, column 101: 'r': the table belongs to 'q', which has other columns; choose another table
----------
-- a side output at the path of a query
CREATE STREAM t (ts TIMESTAMP, v DOUBLE) TIMESTAMP BY ts WITH (source = 'json', path = 'in', late_sink = 'parquet', late_path = 'out');
CREATE QUERY q AS SELECT v FROM t [NOW] WITH (sink = 'parquet', path = 'out');
=>
error: line 3, column 72: 'q': the path belongs to 'late:t'; choose another path
----------
-- no source
CREATE STREAM t (ts TIMESTAMP, v DOUBLE) TIMESTAMP BY ts;
CREATE QUERY q AS SELECT v FROM t [NOW];
=>
error: line 2, column 1: stream 't' has no source: declare it WITH (source = 'parquet', path = '...'), or supply a DataFrame from Python
----------
-- no query
CREATE VIEW w AS SELECT v FROM s [NOW];
=>
error: there is no query to run: add one with query() or CREATE QUERY
----------
-- a query of tables only
CREATE TABLE u (v DOUBLE) WITH (source = 'json', path = 'in');
CREATE QUERY q AS SELECT v FROM u;
=>
error: line 3, column 19: a query over static tables only is not supported: a standing query reads a stream or a table that changes
----------
-- a statement for running jobs
CREATE QUERY q AS SELECT v FROM s [NOW];
ALTER QUERY q WITH (sink = 'noop');
=>
error: line 3, column 1: ALTER QUERY is for running jobs: write the options in CREATE QUERY
----------
