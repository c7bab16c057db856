-- What compose.yaml runs: orders from Kafka, the spending of each customer in PostgreSQL, and large
-- orders in another topic.

CREATE STREAM orders (id BIGINT, customer STRING, amount DOUBLE, ts TIMESTAMP)
  TIMESTAMP BY ts LATENESS 5 SECONDS IDLE AFTER 10 SECONDS
  WITH (source = 'kafka', kafka.bootstrap.servers = 'kafka:9092', subscribe = 'orders',
        startingOffsets = 'earliest', format = 'json');

-- The last 10 minutes of each customer, as of now: a row per customer, deleted when its orders leave.
CREATE QUERY spending AS
  SELECT customer, COUNT(*) AS orders, SUM(amount) AS amount
  FROM orders [RANGE 10 MINUTES]
  GROUP BY customer
  WITH (sink = 'postgres', host = 'postgres', user = 'eddyline', database = 'eddyline',
        password_env = 'DB_PASSWORD', table = 'spending', mode = 'upsert');

CREATE QUERY large_orders AS
  SELECT id, customer, amount
  FROM orders [NOW]
  WHERE amount >= 1000
  WITH (sink = 'kafka', kafka.bootstrap.servers = 'kafka:9092', topic = 'large_orders',
        key = 'customer');
