"""Changes of queries that share flows: one mapping, few batches."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from eddyline.testing import batch, rows_of
from flow_cases import FILTER, GROUPS, engine, rows


def test_changes_are_a_mapping_of_all_queries() -> None:
    eng = engine()
    for least in (0, 5, 9):
        eng.query(FILTER.format(least), name=f"f{least}")
    eng.query("SELECT COUNT(*) AS n FROM a [RANGE 3 SECONDS]", name="total")
    eng.query("SELECT v, k FROM a [RANGE 1 SECOND] WHERE v < 3", name="other list")
    out = eng.process({"a": batch("ts | k | v\n1s | 1 | 4\n2s | 2 | 7")})
    assert list(out) == ["f0", "f5", "f9", "total", "other list"]
    assert len(out) == 5
    assert {n: out[n]["v"].to_pylist() for n in ("f0", "f5", "f9")} == {
        "f0": [4, 7],
        "f5": [7],
        "f9": [],
    }
    assert sorted(out.active()) == ["f0", "f5", "total"]
    assert out["f9"].schema == out["f0"].schema == eng.queries["f9"].change_schema
    with pytest.raises(KeyError):
        out["f1"]
    total, shared = sorted(out.batches(), key=lambda t: t.num_rows)[:2]
    if total.column_names[-1] == "v":
        total, shared = shared, total
    assert shared.column_names == ["_query", "_op", "_ts", "_exp", "k", "v"]
    assert list(zip(*(shared[c].to_pylist() for c in ("_query", "v")), strict=True)) == [
        ("f0", 4),
        ("f0", 7),
        ("f5", 7),
    ]
    assert set(total["_query"].to_pylist()) == {"total"}
    assert "f5: 1 changes" in repr(out)
    assert "f9: 0 changes" in repr(out)


def test_of_many_queries_only_some_are_shown() -> None:
    eng = engine()
    for i in range(100):
        eng.query(FILTER.format(i), name=f"q{i}")
    out = eng.process({"a": batch("ts | k | v\n1s | 1 | 30")})
    assert repr(out).endswith("... (30 of 100 queries have changes))")
    assert repr(out).count("1 changes") == 20
    (together,) = out.batches()
    assert together["_query"].to_pylist() == out.active() == [f"q{i}" for i in range(30)]
    few = engine()
    few.query(FILTER.format(1), name="q")
    assert repr(few.process({})) == "Changes(q: 0 changes)"


def test_changes_are_of_the_queries_that_there_were() -> None:
    """Whoever holds them does not see who comes, goes, or gets somebody's place."""
    eng = engine(executor="eddy")
    for name in "xyz":
        eng.query(FILTER.format(1), name=name)
    out = eng.process({"a": batch("ts | k | v\n1s | 1 | 4")})
    eng.drop("y")
    eng.query(FILTER.format(9), name="w")
    later = eng.process({"a": batch("ts | k | v\n2s | 1 | 5")})
    assert [out[n].num_rows for n in "xyz"] == [1, 1, 1]
    assert out.active() == ["x", "y", "z"]
    assert [later[n].num_rows for n in "xzw"] == [1, 1, 0]
    assert "y" not in later
    (together,) = out.batches()
    assert together["_query"].to_pylist() == ["x", "y", "z"]


def test_a_stream_of_changes_is_the_same_piece_by_piece() -> None:
    pieces, whole = engine(chunk_rows=3), engine(chunk_rows=3)
    names = [f"q{i}" for i in range(4)]
    for eng in (pieces, whole):
        for i, name in enumerate(names):
            eng.query((FILTER if i % 2 else GROUPS).format(i), name=name)
    chance = random.Random(2)
    for second in range(3):
        data = rows(chance, second)
        found: dict[str, list[pa.Table]] = {name: [] for name in names}
        for name, table in pieces.stream(data):
            assert table.num_rows
            found[name].append(table)
        out = whole.process(data)
        for name in names:
            tables = [*found[name], out[name].slice(0, 0)]
            assert rows_of(pa.concat_tables(tables)) == rows_of(out[name])
