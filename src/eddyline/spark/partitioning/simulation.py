"""What each shard would have to do, counted from the keys of generated rows; nothing is executed.

The planner's layout of a query deals one second of rows; of each cell are counted the rows that it
receives, the results that it makes, its state, and the bytes that are sent to it and logged by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from eddyline.algebra.expressions import ColumnRef
from eddyline.optimizer.statistics import Statistics
from eddyline.spark.partitioning.explain import planned_queries
from eddyline.spark.partitioning.layouts import ByKey, Copied, Layout
from eddyline.spark.partitioning.planning import best_layout
from eddyline.spark.script import Script

Skew: TypeAlias = Literal["uniform", "zipf"]
Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

SHARDS: Final = (8, 64, 512)
#: Distinct values of each key, and rows generated of each stream.
VALUES: Final = 100_000
SAMPLE: Final = 500_000
#: Length of the windows.
WINDOW_S: Final = 60


@dataclass(frozen=True)
class Workload:
    """A query over streams of equal rates.

    Attributes:
        keys: by stream, the columns that have generated keys.
        centre: the stream whose rows have each result once, with the streams and columns that its
            columns meet; None if rows make no pairs.
        core_rows: rows per second that one core processes, measured; see docs/scale.md.
    """

    name: str
    sql: str
    keys: Mapping[str, tuple[str, ...]]
    centre: tuple[str, tuple[tuple[str, str], ...]] | None
    core_rows: float


WORKLOADS: Final = (
    Workload(
        "join on one key",
        "SELECT a.x FROM a [RANGE 60 SECONDS], b [RANGE 60 SECONDS] WHERE a.x = b.x",
        {"a": ("x",), "b": ("x",)},
        ("b", (("a", "x"),)),
        750_000.0,
    ),
    Workload(
        "chain by HyperCube",
        "SELECT a.x FROM a [RANGE 60 SECONDS], b [RANGE 60 SECONDS], c [RANGE 60 SECONDS] "
        "WHERE a.x = b.x AND b.y = c.y",
        {"a": ("x",), "b": ("x", "y"), "c": ("y",)},
        ("b", (("a", "x"), ("c", "y"))),
        750_000.0,
    ),
    Workload(
        "100,000 rules",
        "SELECT x FROM a WHERE x > 1",
        {"a": ("x",)},
        None,
        35_000.0,
    ),
)


@dataclass(frozen=True)
class ShardLoad:
    """The work of the cells of a layout, per second.

    Attributes:
        sizes: of the axes.
        copies: rows sent per row read.
        rows, most_rows: received by a cell, on average and at most.
        most_results: the share of all results that one cell makes.
        most_state: bytes of windows in a cell.
        shuffled, logged: bytes of all cells together.
        cores: one for each ``core_rows`` rows received, by all cells together.
        busiest: cores that the cell with the most rows would need; above 1, it is too much.
    """

    workload: str
    skew: Skew
    shards: int
    sizes: tuple[int, ...]
    copies: float
    rows: float
    most_rows: float
    most_results: float
    most_state: float
    shuffled: float
    logged: float
    cores: float
    busiest: float


def simulate(
    workload: Workload, shards: int, skew: Skew, *, rate: float, row_bytes: float, exponent: float
) -> ShardLoad:
    """Count the work of shards.

    Args:
        rate: rows per second of all streams together. row_bytes: of a row.
        exponent: of the Zipf distribution of keys, for ``zipf``.
    """
    streams = tuple(workload.keys)
    layout = planned_layout(workload, shards)
    columns = _columns(workload, skew, exponent)
    scale = rate / len(streams) / SAMPLE
    received = np.stack([_received(layout, s, columns) for s in streams])
    per_cell: Floats = received.sum(axis=0) * scale
    sent = float(per_cell.sum())
    return ShardLoad(
        workload.name,
        skew,
        shards,
        tuple(axis.size for axis in layout.axes),
        copies=sent / rate,
        rows=sent / layout.cells,
        most_rows=float(per_cell.max()),
        most_results=_most_results(workload, layout, columns),
        most_state=float(per_cell.max()) * WINDOW_S * row_bytes if workload.centre else 0.0,
        shuffled=sent * row_bytes,
        logged=sent * row_bytes,
        cores=sent / workload.core_rows,
        busiest=float(per_cell.max()) / workload.core_rows,
    )


def simulate_all(rate: float, row_bytes: float, exponent: float) -> Iterator[ShardLoad]:
    """Each workload with each skew and number of shards."""
    skews: tuple[Skew, ...] = ("uniform", "zipf")
    for workload in WORKLOADS:
        for skew in skews:
            for shards in SHARDS:
                yield simulate(
                    workload, shards, skew, rate=rate, row_bytes=row_bytes, exponent=exponent
                )


def planned_layout(workload: Workload, shards: int) -> Layout:
    """The layout that the planner chooses."""
    streams = [
        f"CREATE STREAM {name} (ts TIMESTAMP, x BIGINT, y BIGINT) TIMESTAMP BY ts"
        for name in workload.keys
    ]
    script = Script.of([*streams, f"CREATE QUERY q AS {workload.sql}"])
    columns = {(s, c): float(VALUES) for s, keys in workload.keys.items() for c in keys}
    statistics = Statistics(values=columns)
    return best_layout(planned_queries(script, ["q"])["q"], shards, statistics)


def _columns(workload: Workload, skew: Skew, exponent: float) -> dict[tuple[str, str], Ints]:
    """Keys of the rows of each stream: the same distribution in all, independent of each other."""
    random = np.random.default_rng(7)
    weights = np.arange(1, VALUES + 1, dtype=np.float64) ** -(exponent if skew == "zipf" else 0.0)
    bounds = np.cumsum(weights / weights.sum())
    return {
        (stream, column): np.searchsorted(bounds, random.random(SAMPLE)).astype(np.int64)
        for stream, keys in workload.keys.items()
        for column in keys
    }


def _cells_of(layout: Layout, stream: str, columns: Mapping[tuple[str, str], Ints]) -> Ints:
    """The cell of each row; with coordinate 0 along axes where it is copied."""
    cells = np.zeros(SAMPLE, np.int64)
    for axis, coordinate in zip(layout.axes, layout.inputs[stream], strict=True):
        own = np.zeros(SAMPLE, np.int64)
        if isinstance(coordinate, ByKey):
            (key,) = coordinate.key
            assert isinstance(key, ColumnRef)
            keys = columns[stream, key.name.rpartition(".")[2]]
            own = (_mixed(keys) % np.uint64(axis.size)).astype(np.int64)
        elif not isinstance(coordinate, Copied):
            own = np.arange(SAMPLE) % axis.size
        cells = cells * axis.size + own
    return cells


def _received(layout: Layout, stream: str, columns: Mapping[tuple[str, str], Ints]) -> Floats:
    """Rows that each cell receives, copies included."""
    sizes = tuple(axis.size for axis in layout.axes)
    counts = np.bincount(_cells_of(layout, stream, columns), minlength=layout.cells)
    grid = counts.astype(np.float64).reshape(sizes)
    for place, coordinate in enumerate(layout.inputs[stream]):
        if isinstance(coordinate, Copied):  # the others of this axis have none so far
            grid = np.broadcast_to(grid.take([0], axis=place), sizes)
    return np.ascontiguousarray(grid).reshape(-1)


def _most_results(
    workload: Workload, layout: Layout, columns: Mapping[tuple[str, str], Ints]
) -> float:
    """The largest share of results in a cell: by the rows of the centre, and what they meet."""
    if workload.centre is None:
        return 1 / layout.cells
    stream, others = workload.centre
    results = np.ones(SAMPLE)
    for other, column in others:
        met = np.bincount(columns[other, column], minlength=VALUES)
        results *= met[columns[stream, column]]
    per_cell = np.bincount(_cells_of(layout, stream, columns), results, layout.cells)
    return float(per_cell.max() / per_cell.sum())


def _mixed(keys: Ints) -> npt.NDArray[np.uint64]:
    """The hash of each key (SplitMix64)."""
    h = keys.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))
