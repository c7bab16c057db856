"""The statements of a soak: streams, the queries that stay, and those that come and go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from eddyline.bench.soak import load
from eddyline.bench.soak.feeder import QUOTES, TRADES

#: Queries that are there from the beginning to the end.
STAYING: Final[Mapping[str, str]] = {
    "pairs": "SELECT t.id, t.symbol, t.price FROM trades [RANGE 10 SECONDS] AS t, "
    "quotes [RANGE 1 MINUTE] AS q WHERE t.symbol = q.symbol AND t.price = q.bid",
    "busy": "SELECT symbol, COUNT(*) AS n, SUM(qty) AS qty, MAX(price) AS top "
    "FROM trades [RANGE 30 SECONDS] GROUP BY symbol HAVING COUNT(*) > 320 EMIT CHANGES",
    "unmatched": "SELECT t.id, t.symbol FROM trades [RANGE 5 SECONDS] AS t WHERE t.qty > 90 AND "
    "NOT EXISTS (SELECT * FROM quotes [RANGE 30 SECONDS] AS q "
    "WHERE q.symbol = t.symbol AND q.bid = t.price) EMIT CHANGES",
    "newest": "SELECT symbol, price FROM trades [PARTITION BY symbol ROWS 3] WHERE price > 950",
    "moving": "SELECT id, symbol FROM trades [NOW] WHERE price < 50",
}
#: A query per row of the table ``rules``.
ALERTS: Final = (
    "CREATE QUERY alerts FOR EACH ROW OF rules AS SELECT rules.id, t.id AS trade "
    "FROM trades [NOW] AS t WHERE t.symbol = rules.symbol AND t.price > rules.threshold"
)
#: Whose sink is altered from time to time.
MOVING: Final = "moving"
ALL_STAYING: Final = (*STAYING, "alerts")
ROLL: Final = "1 minute"


class Guest(NamedTuple):
    """A query that comes and goes.

    Attributes:
        select: its SQL. is_filter: each of its results follows from one row, so what it must have
            delivered is known also if it came in the middle.
    """

    select: str
    is_filter: bool


def guest(number: int) -> Guest:
    """The query with this number, of kinds in turn."""
    symbol, price = load.symbol(7 * number), 50 * (number % 19)
    match number % 5:
        case 0 | 3:
            return Guest(
                "SELECT id, symbol, price, qty FROM trades [NOW] "
                f"WHERE symbol = '{symbol}' AND price > {price}",
                is_filter=True,
            )
        case 1:
            select = (
                f"SELECT symbol, AVG(bid) AS mean FROM quotes [RANGE {5 + number % 40} SECONDS] "
                f"WHERE bid > {price} GROUP BY symbol"
            )
        case 2:
            select = (
                f"SELECT t.id, q.bid FROM trades [RANGE {2 + number % 8} SECONDS] AS t, quotes "
                f"[RANGE 4 SECONDS] AS q WHERE t.symbol = q.symbol AND t.price = q.bid + {price}"
            )
        case _:  # another key: a layout of its own
            select = (
                "SELECT a.id, b.id AS other FROM trades [RANGE 2 SECONDS] AS a, trades "
                "[RANGE 2 SECONDS] AS b WHERE a.account = b.account AND a.id < b.id "
                f"AND a.price > {price}"
            )
    return Guest(select, is_filter=False)


def streams(folder: Path, kafka: str | None) -> str:
    """The streams and the table.

    Args:
        folder: of the files. kafka: options of the source of trades; None: they are in files.
    """
    if kafka is not None:
        source = f"{kafka}, format = 'json'"
    else:
        source = f"source = 'json', path = '{folder}/{TRADES}', cleanSource = 'delete'"
    bad = f"bad_sink = 'parquet', bad_path = '{folder}/bad', bad_roll_interval = '{ROLL}'"
    return f"""
        CREATE STREAM trades (
            id BIGINT, symbol STRING, account BIGINT, price BIGINT, qty BIGINT, ms BIGINT,
            ts TIMESTAMP AS (timestamp_millis(ms))
        ) TIMESTAMP BY ts LATENESS 5 SECONDS WITH ({source}, {bad});
        CREATE STREAM quotes (ts TIMESTAMP, symbol STRING, bid BIGINT)
        TIMESTAMP BY ts LATENESS 5 SECONDS
        WITH (source = 'parquet', path = '{folder}/{QUOTES}', cleanSource = 'delete');
        CREATE TABLE rules (id BIGINT, symbol STRING, threshold BIGINT)
        WITH (source = 'parquet', path = '{folder}/rules');
    """


def sink(folder: Path, name: str) -> dict[str, str]:
    """Files outside the checkpoint, one for several batches."""
    return {"sink": "parquet", "path": f"{folder}/out/{name}", "roll_interval": ROLL}


def script(folder: Path, kafka: str | None) -> str:
    """The statements at the start."""
    queries = {name: f"CREATE QUERY {name} AS {select}" for name, select in STAYING.items()}
    queries["alerts"] = ALERTS
    parts = [streams(folder, kafka)]
    for name, query in queries.items():
        options = ", ".join(f"{key} = '{value}'" for key, value in sink(folder, name).items())
        parts.append(f"{query} WITH ({options});")
    return "\n".join(parts)
