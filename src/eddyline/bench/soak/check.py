"""The results of a soak beside those of an embedded engine over the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa

from eddyline import Engine
from eddyline.bench.soak import load
from eddyline.bench.soak.program import ALERTS, ALL_STAYING, MOVING, STAYING, Guest, streams

_TICKS_AT_ONCE: Final = 60
_BATCH: Final = "eddyline_batch"


@dataclass
class Checked:
    """What was compared.

    Attributes:
        rows: delivered, by query; those of guests together. differences: by query, the number of
            rows that are missing and of those too many. bad: rows of the stream, and of the feeder.
    """

    rows: dict[str, int] = field(default_factory=dict)
    differences: dict[str, tuple[int, int]] = field(default_factory=dict)
    bad: tuple[int, int] = (0, 0)

    @property
    def is_equal(self) -> bool:
        return not any(map(any, self.differences.values())) and self.bad[0] == self.bad[1]


def check(folder: Path, ticks: int, altered: Sequence[str], guests: Mapping[str, Guest]) -> Checked:
    """Compare the files of the sinks with what an engine, or for guests DuckDB, finds.

    Args:
        altered: the directories of the query whose sink was altered. guests: by name.
    """
    found, database = Checked(), duckdb.connect()
    expected = _embedded(folder, ticks)
    for name in ALL_STAYING:
        database.register("expected", expected[name])
        places = altered if name == MOVING else [name]
        delivered = _delivered(database, folder, places)
        found.rows[name] = _count(database, delivered)
        found.differences[name] = _differences(database, "SELECT * FROM expected", delivered)
        database.unregister("expected")
    _check_guests(found, database, folder, ticks, guests)
    bad = _delivered(database, folder, ["../bad"])
    found.bad = _count(database, bad), ticks * load.BAD_ROWS
    return found


def _check_guests(
    found: Checked, database: Any, folder: Path, ticks: int, guests: Mapping[str, Guest]
) -> None:
    """A filter that came in the middle has delivered all rows between its first and its last."""
    database.register("trades", pa.concat_tables(map(load.trades, range(ticks))))
    rows = missing = extra = 0
    for name, query in guests.items():
        if not query.is_filter or not list((folder / "out" / name).rglob("*.parquet")):
            continue
        delivered = f"SELECT id, symbol, price, qty FROM ({_delivered(database, folder, [name])})"
        where = query.select.partition("WHERE")[2]
        expected = (
            f"SELECT id, symbol, price, qty FROM trades WHERE {where} AND id BETWEEN "
            f"(SELECT min(id) FROM ({delivered})) AND (SELECT max(id) FROM ({delivered}))"
        )
        difference = _differences(database, expected, delivered)
        rows += _count(database, delivered)
        missing, extra = missing + difference[0], extra + difference[1]
    found.rows["guests"] = rows
    found.differences["guests"] = missing, extra


def _embedded(folder: Path, ticks: int) -> dict[str, pa.Table]:
    engine = Engine()
    engine.sql(streams(folder, "source = 'none'"))
    engine.table("rules", load.rules())
    for name, select in STAYING.items():
        engine.query(select, name=name)
    engine.sql(ALERTS)
    parts: dict[str, list[pa.Table]] = {name: [] for name in ALL_STAYING}
    for changes in _processed(engine, ticks):
        for name, tables in parts.items():
            tables.append(changes[name])
    return {name: pa.concat_tables(tables) for name, tables in parts.items()}


def _processed(engine: Engine, ticks: int) -> Iterator[Any]:
    for first in range(0, ticks, _TICKS_AT_ONCE):
        some = range(first, min(first + _TICKS_AT_ONCE, ticks))
        rows = {of.__name__: pa.concat_tables(map(of, some)) for of in (load.trades, load.quotes)}
        yield engine.process(rows)
    yield engine.advance("2027-01-01T00:00:00Z")


def _delivered(database: Any, folder: Path, places: Sequence[str]) -> str:
    """A SELECT over the files of sinks."""
    globs = [f"{folder}/out/{place}/**/*.parquet" for place in places]
    with_files = [glob for glob in globs if database.sql(f"FROM glob('{glob}')").fetchall()]
    return (
        f"SELECT * EXCLUDE {_BATCH} FROM "
        f"read_parquet({with_files!r}, hive_partitioning = true, union_by_name = true)"
    )


def _count(database: Any, select: str) -> int:
    ((count,),) = database.sql(f"SELECT count(*) FROM ({select})").fetchall()
    return int(count)


def _differences(database: Any, expected: str, delivered: str) -> tuple[int, int]:
    """Rows that are missing, and rows too many."""
    missing = _count(database, f"({expected}) EXCEPT ALL ({delivered})")
    return missing, _count(database, f"({delivered}) EXCEPT ALL ({expected})")
