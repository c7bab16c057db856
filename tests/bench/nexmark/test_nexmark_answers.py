"""The queries of NEXMark, embedded: their answers are those of DuckDB over the same rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

import pyarrow as pa
import pytest

import eddyline
from eddyline.bench.nexmark.generator import Auctions
from eddyline.bench.nexmark.workload import NAMES, engine_of, text
from eddyline.testing.bags import Row, difference, rows_of
from eddyline.types import TIMESTAMP
from net_changes import answer_at
from nexmark_answers import Facts
from thinned import thinned

EVENTS: Final = 6_000
#: A minute of many events; days of few.
LOADS: Final = (Auctions(seed=3, events_per_s=100), Auctions(seed=4, events_per_s=0.05))
CHUNKS: Final = {
    "one": [EVENTS],
    "a few": [1, 49, 950, 2_000, 2_999, 1],
    "many": [60] * 100,
}


@cache
def parts(load: Auctions) -> dict[str, pa.Table]:
    return load.rows(0, EVENTS)


@cache
def facts(load: Auctions) -> Facts:
    return Facts(parts(load))


def run(
    engine: eddyline.Engine, load: Auctions, sizes: Sequence[int]
) -> Mapping[str, list[pa.Table]]:
    """The changes of all queries; at the end, time passes the last windows."""
    found: dict[str, list[pa.Table]] = defaultdict(list)
    taken = 0
    for size in sizes:
        from_us, taken = load.time_us(taken), taken + size
        until_us = load.time_us(taken)
        rows = {s: between(t, from_us, until_us) for s, t in parts(load).items()}
        for name, table in engine.process(rows, watermark=until_us - 1).items():
            found[name].append(table)
    for name, table in engine.advance(load.time_us(EVENTS) + 60_000_000).items():
        found[name].append(table)
    return found


def between(table: pa.Table, from_us: int, until_us: int) -> pa.Table:
    times = table["dateTime"].cast(pa.int64()).to_numpy()
    start, end = times.searchsorted([from_us, until_us])
    return table.slice(start, end - start)


@pytest.mark.parametrize(("sizes", "load"), thinned(2, list(CHUNKS.values()), LOADS))
def test_all_queries_in_one_engine(load: Auctions, sizes: Sequence[int]) -> None:
    engine = engine_of({name: text(name) for name in NAMES})
    changes = run(engine, load, sizes)
    for name in NAMES:
        assert not any(differs(name, engine, load, changes[name])), name


@pytest.mark.parametrize("name", NAMES)
def test_each_query_in_an_engine_of_its_own(name: str) -> None:
    load = LOADS[0]
    engine = engine_of({name: text(name)})
    assert not any(differs(name, engine, load, run(engine, load, CHUNKS["a few"])[name]))


def differs(
    name: str, engine: eddyline.Engine, load: Auctions, changes: list[pa.Table]
) -> tuple[list[Row], list[Row]]:
    """Rows that are missing and in excess, of the changes; and of the answer that is kept."""
    expected = facts(load).answer(name)
    query = engine.queries[name]
    rows = [row for table in changes for row in rows_of(table)]
    missing, extra = difference(expected, answer_at(query, rows, load.time_us(2 * EVENTS)))
    try:
        kept = rows_of(query.snapshot())
    except eddyline.StateError:  # it passes rows on, or has final results only
        return missing, extra
    assert not any(difference(expected, kept))
    return missing, extra


def test_every_query_has_an_answer() -> None:
    """So that no comparison is one of nothing with nothing."""
    for name in NAMES:
        assert any(facts(load).answer(name) for load in LOADS), name


def test_a_bid_between_two_windows_is_in_the_one_that_begins() -> None:
    """Of q7, whose condition is BETWEEN the ends of a window."""
    engine = engine_of({"q7": text("q7")})
    bids = parts(LOADS[0])["bids"].slice(0, 2)
    start = LOADS[0].time_us(0)
    times = pa.array([start + 1_000_000, start + 10_000_000], TIMESTAMP)
    bids = bids.set_column(2, "price", pa.array([5, 5])).set_column(5, "dateTime", times)
    changes = engine.process({"bids": bids}, watermark=start + 10_000_000)["q7"]
    later = engine.advance(start + 20_000_000)["q7"]
    assert changes["dateTime"].cast(pa.int64()).to_pylist() == [start + 1_000_000]
    assert later["dateTime"].cast(pa.int64()).to_pylist() == [start + 10_000_000]
