"""Engines that the console is shown with: the demo, ten thousand rules, an overload."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from eddyline import Engine
from eddyline.engine.options import EngineOptions
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateTable

EXAMPLES = Path(__file__).parents[2] / "examples"
AIRPORTS = ("newark", "kennedy", "laguardia")
TRADES = (
    "CREATE STREAM trades (ts TIMESTAMP, symbol BIGINT, price DOUBLE, qty BIGINT) TIMESTAMP BY ts;"
    "CREATE STREAM quotes (ts TIMESTAMP, symbol BIGINT, bid DOUBLE) TIMESTAMP BY ts"
)


def demo_engine() -> Engine:
    """The queries of the demo."""
    engine = Engine()
    data = EXAMPLES / "data"
    for statement in parse((EXAMPLES / "demo.sql").read_text()):
        engine.execute(statement)
        if isinstance(statement, CreateTable):
            engine.table("airlines", pq.read_table(data / "airlines" / "airlines.parquet"))
    return engine


def demo_rows(pieces: int) -> Iterator[dict[str, pa.Table]]:
    """The rows of the demo in pieces."""
    tables = {name: pq.read_table(EXAMPLES / "data" / "flights" / name) for name in AIRPORTS}
    tables["connections"] = pq.read_table(EXAMPLES / "data" / "connections")
    for i in range(pieces):
        yield {name: _piece(rows, i, pieces) for name, rows in tables.items()}


def _piece(rows: pa.Table, i: int, pieces: int) -> pa.Table:
    ends = [rows.num_rows * j // pieces for j in (i, i + 1)]
    return rows.slice(ends[0], ends[1] - ends[0])


def rules_engine(rules: int) -> Engine:
    """Two streams, and rules that filter one or join both."""
    engine = Engine()
    engine.sql(TRADES)
    for i in range(rules // 2):
        engine.query(
            f"SELECT symbol, price FROM trades [RANGE {1 + i % 60} SECONDS] "
            f"WHERE symbol = {i % 500} AND price > {i % 97}",
            name=f"watch_{i:05}",
        )
        engine.query(
            f"SELECT t.symbol, t.price, q.bid FROM trades [RANGE {1 + i % 9} SECONDS] AS t, "
            f"quotes [RANGE {1 + i % 5} SECONDS] AS q "
            f"WHERE t.symbol = q.symbol AND t.symbol = {i % 500} AND t.price > {i % 97}",
            name=f"pair_{i:05}",
        )
    return engine


def overloaded_engine() -> Engine:
    """Joins that need more than the engine may use, of which some allow load shedding."""
    engine = Engine(EngineOptions(capacity=2e-4, costs="modelled", decide_every="1 second"))
    engine.sql(TRADES)
    engine.sql(
        "CREATE QUERY spreads AS SELECT t.ts, t.symbol, t.price - q.bid AS spread "
        "FROM trades [RANGE 20 SECONDS] AS t, quotes [RANGE 5 SECONDS] AS q "
        "WHERE t.symbol = q.symbol ON OVERLOAD SHED;"
        "CREATE QUERY volumes AS SELECT symbol, SUM(qty) AS volume, AVG(price) AS mean "
        "FROM trades [RANGE 20 SECONDS] GROUP BY symbol ON OVERLOAD SHED;"
        "CREATE QUERY large AS SELECT ts, symbol, qty FROM trades [RANGE 10 SECONDS] "
        "WHERE qty > 8 ON OVERLOAD SHED"
    )
    return engine


def market_rows(pieces: int, rows: int, rows_per_second: int) -> Iterator[dict[str, pa.Table]]:
    """Trades and quotes, as many of each per piece and second of event time."""
    rng = np.random.default_rng(7)
    for i in range(pieces):
        ts = (np.arange(rows) + i * rows) * (1_000_000 // rows_per_second)
        waves = 50 + 20 * np.sin(ts / 3e6)
        symbols = rng.integers(0, 500, (2, rows))
        yield {
            "trades": pa.table(
                {
                    "ts": ts,
                    "symbol": symbols[0],
                    "price": waves + rng.uniform(0, 9, rows),
                    "qty": rng.integers(0, 10, rows),
                }
            ),
            "quotes": pa.table(
                {"ts": ts, "symbol": symbols[1], "bid": waves + rng.uniform(0, 9, rows)}
            ),
        }
