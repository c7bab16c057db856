"""What each shard would have to do, counted from the keys of generated rows; nothing is executed.

The planner's layout of a query deals one second of rows; of each cell are counted the rows that it
receives, the results that it makes, its state, and the bytes that are sent to it and logged by it,
timestamps of rows of other cells included.
With split keys, they are those that the driver of a job would split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.optimizer.statistics import Statistics
from eddyline.spark.layouts.layout_shards import planned
from eddyline.spark.partitioning.dealing import Dealer, Dealt
from eddyline.spark.partitioning.frequent_keys import DEFAULT_LIMITS, keys_to_split
from eddyline.spark.partitioning.layouts import Layout
from eddyline.spark.partitioning.planned_query import PlannedQuery
from eddyline.spark.partitioning.planning import TIMESTAMP_COST, best_layout
from eddyline.spark.partitioning.split_keys import SplitKey, splittable
from eddyline.spark.script import Script

#: Keys: even; by Zipf in all streams; or one key with a part of the first stream's rows. ``split``:
#: frequent keys are split.
Skew: TypeAlias = Literal["uniform", "zipf", "zipf, split", "one key", "one key, split"]
Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

SHARDS: Final = (8, 64, 512)
#: Distinct values of each key, and rows generated of each stream.
VALUES: Final = 100_000
SAMPLE: Final = 500_000
#: Length of the windows.
WINDOW_S: Final = 60
#: Of the timestamp of a row of another cell, compressed, at most.
TIMESTAMP_BYTES: Final = 8
#: With ``one key``: its share of the first stream's rows.
ONE_KEY_SHARE: Final = 0.3


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
        cores: one for each ``core_rows`` rows received, by all cells together; timestamps of rows
            of other cells are a part of a row (``planning.TIMESTAMP_COST``).
        busiest: cores that the cell with the most rows would need; above 1, it is too much.
        most_work: rows received and results made by a cell, at most, of the generated rows.
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
    most_work: float


def simulate(
    workload: Workload, shards: int, skew: Skew, *, rate: float, row_bytes: float, exponent: float
) -> ShardLoad:
    """Count the work of shards.

    Args:
        rate: rows per second of all streams together. row_bytes: of a row.
        exponent: of the Zipf distribution of keys, for ``zipf``.
    """
    streams = tuple(workload.keys)
    query = _planned(workload)
    layout = best_layout(query, shards, _statistics(workload))
    columns = _columns(workload, skew, exponent)
    split = _split_keys(layout, query, columns) if skew.endswith("split") else ()
    dealt = {s: Dealer(layout, s, split).deal(_rows(s, columns), turn=0) for s in streams}
    scale = rate / len(streams) / SAMPLE
    per_cell = np.sum([_received(of) for of in dealt.values()], axis=0) * scale
    sent = float(per_cell.sum())
    timestamps = np.zeros(layout.cells)
    for stream in layout.counted:
        timestamps += (SAMPLE - _received(dealt[stream])) * scale
    sent_bytes = sent * row_bytes + float(timestamps.sum()) * TIMESTAMP_BYTES
    processed = per_cell + TIMESTAMP_COST * timestamps
    results = _results(workload, layout, dealt, columns)
    work = per_cell / scale + results
    return ShardLoad(
        workload.name,
        skew,
        shards,
        tuple(axis.size for axis in layout.axes),
        copies=sent / rate,
        rows=sent / layout.cells,
        most_rows=float(per_cell.max()),
        most_results=float(results.max() / results.sum()) if workload.centre else 1 / layout.cells,
        most_state=float(per_cell.max()) * WINDOW_S * row_bytes if workload.centre else 0.0,
        shuffled=sent_bytes,
        logged=sent_bytes,
        cores=float(processed.sum()) / workload.core_rows,
        busiest=float(processed.max()) / workload.core_rows,
        most_work=float(work.max()),
    )


def simulate_all(rate: float, row_bytes: float, exponent: float) -> Iterator[ShardLoad]:
    """Each workload with each skew and number of shards."""
    for workload in WORKLOADS:
        skews: tuple[Skew, ...] = ("uniform", "zipf", "zipf, split")
        for skew in skews if workload.centre else skews[:2]:
            for shards in SHARDS:
                yield simulate(
                    workload, shards, skew, rate=rate, row_bytes=row_bytes, exponent=exponent
                )


def costs_of_one_key(shards: int) -> tuple[float, float]:
    """What a key with 30 % of a stream's rows costs in a join: the largest work of a shard, rows
    received and results made, relative to that with even keys; without a split and with it.
    """
    even, one, split = (
        simulate(WORKLOADS[0], shards, skew, rate=1.0, row_bytes=1.0, exponent=1.0).most_work
        for skew in ("uniform", "one key", "one key, split")
    )
    return one / even, split / even


def planned_layout(workload: Workload, shards: int) -> Layout:
    """The layout that the planner chooses."""
    return best_layout(_planned(workload), shards, _statistics(workload))


def _planned(workload: Workload) -> PlannedQuery:
    streams = [
        f"CREATE STREAM {name} (ts TIMESTAMP, x BIGINT, y BIGINT) TIMESTAMP BY ts"
        for name in workload.keys
    ]
    script = Script.of([*streams, f"CREATE QUERY q AS {workload.sql}"])
    return planned(script, script.queries["q"])


def _statistics(workload: Workload) -> Statistics:
    columns = {(s, c): float(VALUES) for s, keys in workload.keys.items() for c in keys}
    return Statistics(values=columns)


def _columns(workload: Workload, skew: Skew, exponent: float) -> dict[tuple[str, str], Ints]:
    """Keys of the rows of each stream: the same distribution in all, independent of each other."""
    random = np.random.default_rng(7)
    is_zipf = skew.startswith("zipf")
    weights = np.arange(1, VALUES + 1, dtype=np.float64) ** -(exponent if is_zipf else 0.0)
    bounds = np.cumsum(weights / weights.sum())
    columns = {
        (stream, column): np.searchsorted(bounds, random.random(SAMPLE)).astype(np.int64)
        for stream, keys in workload.keys.items()
        for column in keys
    }
    if skew.startswith("one key"):
        first = next(iter(columns.values()))
        first[random.random(SAMPLE) < ONE_KEY_SHARE] = 0
    return columns


def _rows(stream: str, columns: Mapping[tuple[str, str], Ints]) -> list[pa.Array]:
    """The columns of a stream: ts, x, y."""
    unused = np.zeros(SAMPLE, np.int64)
    return [pa.array(columns.get((stream, column), unused)) for column in ("ts", "x", "y")]


def _split_keys(
    layout: Layout, query: PlannedQuery, columns: Mapping[tuple[str, str], Ints]
) -> list[SplitKey]:
    """The keys that the driver would split, all of them spread."""
    found: list[SplitKey] = []
    for number, inputs in splittable(layout, [query]).items():
        counts: dict[int, dict[str, float]] = {}
        for stream in layout.inputs:
            dealer = Dealer(layout, stream, counted=[number])
            dealer.deal(_rows(stream, columns), turn=0)
            for of in dealer.frequent():
                for key, (n, _) in of.counts.items():
                    counts.setdefault(key, {})[stream] = float(n)
        rows = dict.fromkeys(layout.inputs, float(SAMPLE))
        size = layout.axes[number].size
        chosen = keys_to_split(rows, counts, size, DEFAULT_LIMITS).items()
        found += [SplitKey(number, key, spread, True) for key, spread in chosen if spread in inputs]
    return found


def _received(dealt: Dealt) -> Floats:
    """Rows that each cell receives, copies included."""
    return dealt.sizes[list(dealt.part_of)].astype(np.float64)


def _results(
    workload: Workload,
    layout: Layout,
    dealt: Mapping[str, Dealt],
    columns: Mapping[tuple[str, str], Ints],
) -> Floats:
    """Results of each cell: by the rows of the centre, and what they meet. The results of a row
    that is copied are where the rows that it meets are: dealt evenly.
    """
    if workload.centre is None:
        return np.zeros(layout.cells)
    stream, others = workload.centre
    results = np.ones(SAMPLE)
    for other, column in others:
        met = np.bincount(columns[other, column], minlength=VALUES)
        results *= met[columns[stream, column]]
    of = dealt[stream]
    order = np.arange(SAMPLE) if of.order is None else of.order
    results /= np.bincount(order, minlength=SAMPLE)
    part = np.repeat(np.arange(of.sizes.size), of.sizes)
    in_parts = np.bincount(part, results[order], of.sizes.size)
    cells = np.bincount(of.part_of, minlength=of.sizes.size)
    return np.asarray((in_parts / cells)[list(of.part_of)], np.float64)
