-- recipe: Top talkers
SELECT src, SUM(bytes) FROM flows WHERE ts > tau() - INTERVAL '15 minutes' GROUP BY src ORDER BY SUM(bytes) DESC, src LIMIT 3

-- recipe: Port scans
SELECT src, dst, COUNT(DISTINCT port) FROM flows WHERE ts > tau() - INTERVAL '10 minutes' GROUP BY src, dst
HAVING COUNT(DISTINCT port) >= 4

-- emitted: Response times
SELECT w + INTERVAL '30 minutes' AS _ts, host, w, quantile_cont(ms, 0.5), quantile_cont(ms, 0.95)
FROM (SELECT *, time_bucket(INTERVAL '30 minutes', ts) AS w FROM requests__all) WHERE w + INTERVAL '30 minutes' <= tau()
GROUP BY host, w

-- recipe: Traffic by owner, by network and in all
SELECT vlan, owner, SUM(bytes) FROM flows JOIN hosts ON src = ip WHERE ts > tau() - INTERVAL '30 minutes'
GROUP BY ROLLUP (vlan, owner)

-- recipe: Names that do not exist
SELECT client, AVG((rcode = 'NXDOMAIN')::INT) FROM lookups WHERE ts > tau() - INTERVAL '20 minutes' GROUP BY client
HAVING COUNT(*) >= 5 AND AVG((rcode = 'NXDOMAIN')::INT) > 0.4

-- emitted: Volume so far
SELECT ts AS _ts, src, ts, SUM(bytes) OVER (PARTITION BY src ORDER BY ts) FROM flows

-- recipe: Tags
SELECT tag, COUNT(*) FROM (SELECT UNNEST(tags) AS tag FROM requests WHERE ts > tau() - INTERVAL '30 minutes') GROUP BY tag

-- recipe: Peers by network
SELECT peer.asn, AVG(ms) FROM (SELECT * FROM requests QUALIFY ROW_NUMBER() OVER (PARTITION BY host ORDER BY ts DESC) <= 10)
GROUP BY peer.asn

-- recipe: Versions of clients
SELECT json_extract_string(body, '$.version'), COUNT(*), MAX(CAST(json_extract_string(body, '$.retries') AS BIGINT))
FROM requests WHERE ts > tau() - INTERVAL '1 hour' GROUP BY 1

-- emitted: The first contact
SELECT MIN(ts) AS _ts, src, dst, MIN(ts) FROM flows GROUP BY src, dst

-- recipe: Flows that are not allowed
SELECT src, dst, port FROM flows f WHERE ts > tau() - INTERVAL '20 minutes' AND NOT EXISTS (SELECT 1 FROM allowed a
  WHERE a.dst = f.dst AND a.port = f.port)

-- emitted: Quiet, then not
SELECT ts AS _ts, src, ts, gap FROM (SELECT src, ts, ts - LAG(ts) OVER (PARTITION BY src ORDER BY ts) AS gap FROM flows)
WHERE gap > INTERVAL '5 minutes'
