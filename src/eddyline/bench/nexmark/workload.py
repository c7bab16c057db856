"""The texts of the queries, and the engines and tables that they need."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import eddyline
from eddyline.bench.nexmark.generator import Auctions

_HERE: Final = Path(__file__).parent
_SIDE_ROWS: Final = 10_000

#: All queries, in the order of their numbers.
NAMES: Final = tuple(f"q{number}" for number in range(24))
#: Those of which the published text cannot run, or would mean something else.
REWORDED: Final = tuple(name for name in NAMES if (_HERE / "instead" / f"{name}.sql").exists())


def definitions(folder: Path = Path("nexmark")) -> str:
    """The streams, the views over them, the table and the function that the queries read.

    Args:
        folder: has the rows as files: see :func:`write`.
    """
    return (_HERE / "streams.sql").read_text().replace("'nexmark/", f"'{folder}/")


def published(name: str) -> str:
    """The SELECT of a query as published, without the semicolon."""
    return _statements("queries", name)[-1]


def text(name: str) -> str:
    """The SELECT of a query as it runs here: as published, or reworded."""
    return _statements(_folder(name), name)[-1]


def views(name: str) -> str:
    """The views that a query declares before its SELECT; empty for most."""
    return ";".join(_statements(_folder(name), name)[:-1])


def _folder(name: str) -> str:
    return "instead" if name in REWORDED else "queries"


def side_input() -> pa.Table:
    """The table ``side_input``: 10,000 pairs of equal numbers."""
    numbers = np.arange(_SIDE_ROWS)
    return pa.table({"key": numbers, "value": numbers})


def engine_of(queries: Mapping[str, str]) -> eddyline.Engine:
    """An engine with the definitions and these SELECTs by name, before the first row."""
    engine = eddyline.Engine()
    engine.sql(definitions())
    engine.table("side_input", side_input())
    for name, select in queries.items():
        engine.sql(views(name) if name in NAMES else "")
        engine.query(select, name=name)
    return engine


def batches_of(load: Auctions, events: int, size: int) -> Iterator[tuple[dict[str, pa.Table], int]]:
    """The first events, ``size`` at a time, each with the time up to which they have come."""
    for first in range(0, events, size):
        until = min(first + size, events)
        yield load.rows(first, until - first), load.time_us(until - 1)


def write(load: Auctions, events: int, size: int, folder: Path) -> None:
    """The first events as Parquet files, of each stream one for ``size`` events, and the table.

    Spark takes files by age: that is the order of time.
    """
    _write(side_input(), folder / "side_input", 0)
    for number, (rows, _) in enumerate(batches_of(load, events, size)):
        for stream, table in rows.items():
            _write(table, folder / stream, number)


def _write(table: pa.Table, folder: Path, number: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{number:04}.parquet"
    pq.write_table(table, file)
    os.utime(file, (1e9 + number, 1e9 + number))


def _statements(folder: str, name: str) -> list[str]:
    return (_HERE / folder / f"{name}.sql").read_text().strip().removesuffix(";").split(";")
