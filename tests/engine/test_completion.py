"""What shells and notebooks offer, and the forms in which rows come in and changes go out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import eddyline
from eddyline.engine.completion import ENGINE, QUERY

SECOND = 1_000_000


def an_engine() -> tuple[eddyline.Engine, eddyline.Query]:
    engine = eddyline.Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts")
    return engine, engine.query("SELECT x FROM s [RANGE 10 SECONDS] WHERE x > 1", name="big")


def test_public_names_are_offered() -> None:
    assert dir(eddyline) == sorted(eddyline.__all__)
    assert all(hasattr(eddyline, name) for name in dir(eddyline))
    engine, query = an_engine()
    for thing, names in ((engine, ENGINE), (query, QUERY)):
        assert {n for n in dir(thing) if not n.startswith("_")} == {*names}
        assert all(hasattr(thing, name) for name in names)
        methods = [n for n in names if callable(getattr(thing, n)) and n != "wall_clock"]
        assert all(getattr(thing, name).__doc__ for name in methods)


def dicts() -> list[dict[str, Any]]:
    return [{"ts": i * SECOND, "x": i} for i in range(4)]


def generated() -> Iterator[dict[str, Any]]:
    yield from dicts()


@pytest.mark.parametrize(
    "rows",
    [
        dicts(),
        tuple(dicts()),
        generated(),
        iter(dicts()),
        map(dict, dicts()),
        dict(enumerate(dicts())).values(),
        pd.DataFrame(dicts()),
        pa.Table.from_pylist(dicts()),
        pa.RecordBatch.from_pylist(dicts()),
        pa.Table.from_pylist(dicts()).to_reader(),
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_rows_come_in_any_form(rows: Iterable[Any]) -> None:
    engine, _ = an_engine()
    assert engine.process({"s": rows})["big"]["x"].to_pylist() == [2, 3]


def test_rows_of_a_generator_are_pushed_in_one_call() -> None:
    engine, query = an_engine()
    calls: list[pa.Table] = []
    query.subscribe(calls.append, tables=True)
    engine.push_many("s", (row for row in dicts()))
    (table,) = calls
    assert table["x"].to_pylist() == [2, 3]


def test_changes_become_frames() -> None:
    engine, _ = an_engine()
    changes = engine.process({"s": dicts()})
    frame = changes["big"].to_pandas()
    assert list(frame.columns) == ["_op", "_ts", "_exp", "x"] and frame["x"].tolist() == [2, 3]
    assert str(frame["_ts"].dtype) == "datetime64[us, UTC]"
    assert pa.table(changes["big"]).num_rows == 2, "by the interface that polars and DuckDB use"


def test_a_function_is_a_sink() -> None:
    engine, query = an_engine()
    seen: Counter[int] = Counter()

    def count(change: eddyline.Change) -> None:
        seen[change.row["x"]] += 1

    with query.subscribe(count):
        engine.push_many("s", dicts())
    engine.push("s", {"ts": 5 * SECOND, "x": 9})
    assert seen == {2: 1, 3: 1}, "not after the end of the block"
