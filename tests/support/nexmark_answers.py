"""The answers of NEXMark's queries over all rows, computed at once by DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import duckdb
import pyarrow as pa

from eddyline.bench.nexmark.workload import side_input
from eddyline.testing.bags import Row, rows_of

_BANDS: Final = ("price < 10000", "price >= 10000 AND price < 1000000", "price >= 1000000")
_COUNTS: Final = ", ".join(["count(*)", *(f"count(*) FILTER ({band})" for band in _BANDS)])
_DISTINCT: Final = ", ".join(
    f"count(DISTINCT {column}){end}"
    for column in ("bidder", "auction")
    for end in ("", *(f" FILTER ({band})" for band in _BANDS))
)
_DAY: Final = "strftime(dateTime, '%Y-%m-%d')"
_WITH_BIDS: Final = (
    "auction a JOIN bid b ON a.id = b.auction AND b.dateTime BETWEEN a.dateTime AND a.expires"
)
_TUMBLE: Final = "time_bucket(INTERVAL 10 SECONDS, dateTime)"
_CHANNEL_ID: Final = r"nullif(regexp_extract(url, '(&|^)channel_id=([^&]*)', 2), '')"

EXPECTED: Final[dict[str, str]] = {
    "q0": "SELECT auction, bidder, price, dateTime, extra FROM bid",
    "q1": "SELECT auction, bidder, 0.908 * price, dateTime, extra FROM bid",
    "q2": "SELECT auction, price FROM bid WHERE auction % 123 = 0",
    "q3": "SELECT name, city, state, a.id FROM auction a JOIN person p ON a.seller = p.id "
    "WHERE category = 10 AND state IN ('OR', 'ID', 'CA')",
    "q4": "SELECT category, avg(final) FROM (SELECT max(price) AS final, category "
    f"FROM {_WITH_BIDS} GROUP BY a.id, category) GROUP BY category",
    "q5": """
        WITH hops AS (
          SELECT auction, unnest([time_bucket(INTERVAL 2 SECONDS, dateTime) - to_seconds(2 * i)
            FOR i IN range(5)]) AS begins FROM bid),
        counts AS (SELECT auction, begins, count(*) AS num FROM hops GROUP BY ALL)
        SELECT auction, num FROM counts QUALIFY num = max(num) OVER (PARTITION BY begins)""",
    "q6": f"""
        WITH sold AS (
          SELECT a.id, seller, price, b.dateTime AS sold_at FROM {_WITH_BIDS}
          QUALIFY row_number() OVER (PARTITION BY a.id ORDER BY price DESC, sold_at) = 1)
        SELECT seller, avg(price) OVER (PARTITION BY seller ORDER BY sold_at, id
          ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) FROM sold""",
    "q7": "SELECT auction, price, bidder, dateTime, extra FROM bid "
    f"QUALIFY price = max(price) OVER (PARTITION BY {_TUMBLE})",
    "q8": f"""
        SELECT p.* FROM (SELECT DISTINCT id, name, {_TUMBLE} AS begins FROM person) p
        JOIN (SELECT DISTINCT seller, {_TUMBLE} AS begins FROM auction) a
        ON p.id = a.seller AND p.begins = a.begins""",
    "q9": f"""
        SELECT a.*, auction, bidder, price, b.dateTime, b.extra FROM {_WITH_BIDS}
        QUALIFY row_number() OVER (PARTITION BY a.id ORDER BY price DESC, b.dateTime) = 1""",
    "q10": "SELECT auction, bidder, price, dateTime, extra, "
    f"{_DAY}, strftime(dateTime, '%H:%M') FROM bid",
    "q11": """
        WITH begun AS (
          SELECT bidder, dateTime, coalesce(dateTime - lag(dateTime) OVER each_bidder
            > INTERVAL 10 SECONDS, true) AS begins
          FROM bid WINDOW each_bidder AS (PARTITION BY bidder ORDER BY dateTime)),
        numbered AS (
          SELECT *, count(*) FILTER (begins) OVER (PARTITION BY bidder ORDER BY dateTime) AS number
          FROM begun)
        SELECT bidder, count(*), min(dateTime), max(dateTime) + INTERVAL 10 SECONDS
        FROM numbered GROUP BY bidder, number""",
    "q12": f"SELECT bidder, count(*), {_TUMBLE} AS begins, begins + INTERVAL 10 SECONDS "
    "FROM bid GROUP BY ALL",
    "q13": "SELECT auction, bidder, price, dateTime, value FROM bid JOIN side_input "
    "ON auction % 10000 = key",
    "q14": """
        SELECT auction, bidder, 0.908 * price,
          CASE WHEN hour(dateTime) BETWEEN 8 AND 18 THEN 'dayTime'
               WHEN hour(dateTime) <= 6 OR hour(dateTime) >= 20 THEN 'nightTime'
               ELSE 'otherTime' END,
          dateTime, extra, length(extra) - length(replace(extra, 'c', ''))
        FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000""",
    "q15": f"SELECT {_DAY} AS day, {_COUNTS}, {_DISTINCT} FROM bid GROUP BY day",
    "q16": f"SELECT channel, {_DAY} AS day, max(strftime(dateTime, '%H:%M')), {_COUNTS}, "
    f"{_DISTINCT} FROM bid GROUP BY channel, day",
    "q17": f"SELECT auction, {_DAY} AS day, {_COUNTS}, min(price), max(price), avg(price), "
    "sum(price) FROM bid GROUP BY auction, day",
    "q18": "SELECT auction, bidder, price, channel, url, dateTime, extra FROM bid "
    "QUALIFY row_number() OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC) = 1",
    "q19": "SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC, dateTime) AS r "
    "FROM bid QUALIFY r <= 10",
    "q20": """
        SELECT auction, bidder, price, channel, url, b.dateTime, b.extra, itemName, description,
          initialBid, reserve, a.dateTime, expires, seller, category, a.extra
        FROM bid b JOIN auction a ON b.auction = a.id WHERE category = 10""",
    "q21": f"""
        SELECT auction, bidder, price, channel,
          CASE lower(channel) WHEN 'apple' THEN '0' WHEN 'google' THEN '1' WHEN 'facebook' THEN '2'
            WHEN 'baidu' THEN '3' ELSE {_CHANNEL_ID} END AS id
        FROM bid WHERE id IS NOT NULL""",
    "q22": "SELECT auction, bidder, price, channel, "
    "parts[4], parts[5], parts[6] FROM (SELECT *, string_split(url, '/') AS parts FROM bid)",
    "q23": """
        SELECT bidder, price, channel, url, b.extra, p.id, name, emailAddress, creditCard, city,
          state, p.extra, itemName, description, initialBid, reserve, a.dateTime, expires, seller,
          category, a.extra
        FROM bid b JOIN person p ON p.id = b.bidder JOIN auction a ON a.seller = b.bidder""",
}


class Facts:
    """All rows of a run, and what the queries say of them."""

    def __init__(self, rows: Mapping[str, pa.Table]) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("SET TimeZone = 'UTC'")
        for stream, table in rows.items():
            self._connection.register(stream.removesuffix("s"), table)
        self._connection.register("side_input", side_input())

    def answer(self, query: str) -> list[Row]:
        """The bag of the query's rows."""
        return rows_of(self._connection.sql(EXPECTED[query]).to_arrow_table())
