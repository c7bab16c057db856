"""Drop boxes: which rows are kept, and that it does not depend on anything but what they hold."""

from __future__ import annotations

import decimal
import io
from collections.abc import Mapping
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.engine.overload.drop_box import DropBox
from eddyline.testing import engine_with
from eddyline.testing.bags import plain

DDL = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, s STRING) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT, s STRING) TIMESTAMP BY ts;
"""
LATE_DDL = DDL.replace("BY ts;", "BY ts LATENESS 1 SECOND;")
JOIN = "SELECT a.ts AS at, b.ts AS bt, a.k FROM a [RANGE 2 SECONDS], b [ROWS 20] WHERE a.k = b.k"
SHED = " ON OVERLOAD SHED"
N = 20_000


def rows(seed: int, n: int = 400, values: int = 5) -> pa.Table:
    """Rows in order of time."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "ts": np.sort(rng.integers(0, n * 10_000, n)),
            "k": rng.integers(0, values, n),
            "s": pa.array([f"t{i}" for i in rng.integers(0, values, n)]),
        }
    )


def kept(stream: str, keep: float, table: pa.Table) -> pa.Table:
    box = DropBox(stream, keep)
    columns = [table["ts"].cast(pa.timestamp("us", "UTC")), *table.columns[1:]]
    return table.filter(pa.array(box.keeps([c.combine_chunks() for c in columns])))


def bag(changes: list[pa.Table]) -> list[Any]:
    return sorted((tuple(map(plain, r.values())) for t in changes for r in t.to_pylist()), key=repr)


ADVERSARIAL: Mapping[str, list[pa.Array]] = {
    "sequential integers": [pa.array(range(N)), pa.array(range(N))],
    "sequential timestamps only": [pa.array(np.arange(N) * 1_000_000)],
    "one value, timestamps a microsecond apart": [pa.array(range(N)), pa.array([7] * N)],
    "two flags, timestamps a second apart": [
        pa.array(np.arange(N) * 1_000_000).cast(pa.timestamp("us", "UTC")),
        pa.array([i % 2 == 0 for i in range(N)]),
        pa.array([i % 3 == 0 for i in range(N)]),
    ],
    "the same instant, sequential texts": [
        pa.array([5] * N),
        pa.array([f"sensor-{i:06}" for i in range(N)]),
    ],
    "powers and NULLs": [
        pa.array(np.arange(N) << 32),
        pa.array([None if i % 2 else float(i) for i in range(N)]),
        pa.array([None] * N, pa.string()),
    ],
    "columns that cancel": [pa.array(range(N)), pa.array(-31 * np.arange(N))],
    "decimals": [pa.array([decimal.Decimal(i) / 4 for i in range(N)], pa.decimal128(12, 2))],
}


@pytest.mark.parametrize("keep", [0.01, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("name", ADVERSARIAL)
def test_the_share_that_is_kept_is_the_rate(name: str, keep: float) -> None:
    share = DropBox("s", keep).keeps(ADVERSARIAL[name]).mean()
    assert abs(share - keep) < 4 * sqrt(keep * (1 - keep) / N)


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_no_stretch_of_a_stream_is_thinned_more_than_others(name: str) -> None:
    stretches = DropBox("s", 0.4).keeps(ADVERSARIAL[name]).reshape(50, -1).mean(axis=1)
    z = (stretches - 0.4) / sqrt(0.4 * 0.6 / (N / 50))
    assert np.abs(z).max() < 4.5
    assert 0.5 < (z**2).mean() < 1.8, "variance as of independent draws"


def test_rows_that_are_kept_at_a_rate_are_kept_at_all_higher_ones() -> None:
    columns = ADVERSARIAL["sequential integers"]
    before = np.zeros(N, np.bool_)
    for keep in (0.001, 0.1, 0.3, 0.5, 0.9, 1.0):
        now = DropBox("s", keep).keeps(columns)
        assert (now | before == now).all()
        assert now.sum() > before.sum()
        before = now
    assert before.all()


@pytest.mark.parametrize("keep", [0.2, 0.9])
def test_equal_numbers_are_drawn_alike_whatever_is_beside_them(keep: float) -> None:
    """A NULL elsewhere in a column changes nothing, nor does the sign of zero or of NaN."""
    numbers = np.random.default_rng(4).normal(size=N)
    numbers[:2_000], numbers[2_000:4_000] = 0.0, np.nan
    of_other_sign = numbers.copy()
    of_other_sign[:4_000] *= -1
    ids = pa.array(range(N))
    box = DropBox("s", keep)
    plain_rows = box.keeps([ids, pa.array(numbers)])
    assert (box.keeps([ids, pa.array(of_other_sign)]) == plain_rows).all()
    with_null = pa.concat_arrays([pa.array(numbers), pa.nulls(1, pa.float64())])
    beside = box.keeps([pa.concat_arrays([ids, pa.array([None], pa.int64())]), with_null])
    assert (beside[:-1] == plain_rows).all()
    assert (box.keeps([ids.slice(7), pa.array(numbers).slice(7)]) == plain_rows[7:]).all()
    assert (box.places([ids, pa.array(numbers)]) == np.flatnonzero(plain_rows)).all()


def test_rows_of_two_streams_are_drawn_apart() -> None:
    columns = ADVERSARIAL["one value, timestamps a microsecond apart"]
    both = (DropBox("a", 0.5).keeps(columns) & DropBox("b", 0.5).keeps(columns)).mean()
    assert abs(both - 0.25) < 4 * sqrt(0.25 * 0.75 / N)
    same = DropBox("A", 0.5).keeps(columns) == DropBox("a", 0.5).keeps(columns)
    assert same.all(), "names compare without case"


def test_the_same_rows_are_kept_for_ever() -> None:
    table = pa.table({"ts": [1, 2, 3, 4, 5, 6, 7, 8], "k": [1] * 8, "s": list("abcdefgh")})
    assert kept("a", 0.5, table)["s"].to_pylist() == ["a", "b", "h"]


@pytest.mark.parametrize("keep", [0.0, -0.1, 1.5, float("nan")])
def test_a_rate_that_is_no_share_is_refused(keep: float) -> None:
    with pytest.raises(ValueError, match=r"share of a to keep must be above 0 and at most 1"):
        engine_with(keep={"a": keep})
    with pytest.raises(ValueError, match="share of a"):
        Engine().shed({"a": keep})


def run(
    tables: Mapping[str, pa.Table], cuts: int, restart: bool = False, **options: Any
) -> list[Any]:
    """All changes of the join, over batches of equal spans of time."""
    engine = engine_with(**options)
    engine.sql(LATE_DDL)
    engine.query(JOIN + SHED, name="q")
    end = max(t["ts"][-1].as_py() for t in tables.values()) + 1
    changes = []
    bounds = np.linspace(0, end, cuts + 1)
    for low, high in pairwise(bounds):
        batch = {}
        for name, table in tables.items():
            ts = table["ts"].to_numpy()
            batch[name] = table.filter(pa.array((ts >= low) & (ts < high)))
        changes.append(engine.process(batch)["q"])
        if restart:
            saved = io.BytesIO()
            engine.save(saved)
            saved.seek(0)
            engine = Engine.load(saved)
    return bag([*changes, engine.advance(end + 10_000_000)["q"]])


def test_the_same_rows_are_kept_however_they_come() -> None:
    tables = {"a": rows(1), "b": rows(2)}
    keep = {"a": 0.6, "b": 0.3}
    expected = run({name: kept(name, keep[name], t) for name, t in tables.items()}, 1)
    assert len(expected) > 50
    for cuts, chunk_rows in ((1, 16_384), (2, 1), (7, 5), (40, 16_384)):
        assert run(tables, cuts, keep=keep, chunk_rows=chunk_rows) == expected
    assert run(tables, 5, restart=True, keep=keep) == expected
    assert run(tables, 1) != expected


def test_rows_windows_count_the_rows_that_are_kept() -> None:
    engine = engine_with(keep={"a": 0.2})
    engine.sql(DDL)
    query = engine.query("SELECT ts FROM a [ROWS 10]" + SHED, name="q")
    table = rows(3)
    engine.process({"a": table})
    assert query.snapshot().num_rows == 10
    assert query.snapshot()["ts"].cast(pa.int64()).to_pylist() == [
        *kept("a", 0.2, table)["ts"].to_pylist()[-10:]
    ]


def test_late_and_bad_rows_are_not_dropped() -> None:
    engine = engine_with(keep={"a": 0.01, "b": 0.01})
    engine.sql(DDL)
    engine.query(JOIN + SHED, name="q")
    engine.advance(3_000_000)
    table = rows(4)
    bad = pa.table({"ts": pa.array([None] * 50, pa.int64()), "k": range(50), "s": ["x"] * 50})
    is_late = table["ts"].to_numpy() < 3_000_000
    out = engine.process({"a": table, "b": bad})
    assert 250 < out.late["a"].num_rows == is_late.sum() < 400
    assert out.bad["b"].num_rows == 50
    counters = engine.stats()["streams"]
    assert counters["b"]["bad"] == 50
    assert counters["b"]["dropped"] == 0
    in_time = table.filter(pa.array(~is_late))
    assert counters["a"]["dropped"] == in_time.num_rows - kept("a", 0.01, in_time).num_rows > 90


def test_dropped_rows_move_the_watermark() -> None:
    engine = engine_with(keep={"b": 1e-12})
    engine.sql(LATE_DDL)
    engine.query("SELECT ts FROM b [RANGE 1 SECOND]" + SHED, name="q")
    engine.process({"b": rows(5)})
    assert engine.stats()["streams"]["b"]["dropped"] == 400
    assert engine.watermark == rows(5)["ts"][-1].as_py() - 1_000_000


def test_a_stream_is_thinned_only_if_all_its_readers_allow_it() -> None:
    engine = engine_with(keep={"a": 0.5, "B": 0.25, "c": 0.5})
    engine.sql(DDL + "CREATE VIEW v AS SELECT ts, k FROM a WHERE k > 1;")
    assert {s: r["why"] for s, r in engine.stats()["shedding"].items()} == {
        "a": "no query reads it",
        "b": "no query reads it",
        "c": "there is no such stream",
    }
    engine.query(JOIN + SHED, name="q")
    report = engine.stats()["shedding"]
    assert (report["a"]["keep"], report["a"]["why"]) == (0.5, "")
    assert (report["b"]["keep"], report["b"]["why"]) == (0.25, "")
    engine.query("SELECT k FROM v [RANGE 1 SECOND]", name="through_a_view")
    report = engine.stats()["shedding"]
    assert report["a"]["keep"] == 1
    assert report["a"]["why"] == "query through_a_view does not allow shedding"
    assert report["b"]["keep"] == 0.25
    assert "a is not thinned: query through_a_view does not allow shedding" in engine.queries[
        "q"
    ].explain(analyze=True)
    for i in range(4):
        engine.query(f"SELECT k FROM a [RANGE 1 SECOND] WHERE k > {i}", name=f"r{i}")
    assert engine.stats()["shedding"]["a"]["why"] == (
        "queries through_a_view, r0, r1 and 2 more do not allow shedding"
    )
    for name in ("through_a_view", "r0", "r1", "r2", "r3"):
        assert engine.stats()["shedding"]["a"]["keep"] == 1
        engine.drop(name)
    assert engine.stats()["shedding"]["a"]["keep"] == 0.5


def test_a_query_without_shedding_has_all_rows_while_it_runs() -> None:
    table = rows(6)
    parts = [table.slice(0, 150), table.slice(150, 100), table.slice(250)]
    engine = engine_with(keep={"a": 0.4})
    engine.sql(DDL)
    engine.query("SELECT ts FROM a" + SHED, name="q")
    seen = [engine.process({"a": parts[0]})]
    engine.query("SELECT ts, k FROM a", name="all")
    seen.append(engine.process({"a": parts[1]}))
    assert engine.queries["all"].stats()["rows_out"] == 100
    assert "kept" not in engine.queries["all"].stats()
    engine.drop("all")
    seen.append(engine.process({"a": parts[2]}))
    got = [c["q"]["ts"].cast(pa.int64()).to_pylist() for c in seen]
    expected = [kept("a", 0.4, parts[0]), parts[1], kept("a", 0.4, parts[2])]
    assert got == [t["ts"].to_pylist() for t in expected]
    assert [(c.kept["a"].seen, c.kept["a"].kept) for c in (seen[0], seen[2])] == [
        (150, expected[0].num_rows),
        (150, expected[2].num_rows),
    ]
    assert not seen[1].kept
    total = sum(t.num_rows for t in expected)
    assert engine.queries["q"].stats()["kept"] == {"a": total / 400}


def test_rates_change_between_two_calls() -> None:
    table = rows(7)
    engine = Engine()
    engine.sql(DDL)
    engine.query("SELECT ts FROM a" + SHED, name="q")
    out = [engine.process({"a": table.slice(0, 200)})["q"]]
    engine.shed({"a": 0.3})
    out.append(engine.process({"a": table.slice(200, 100)})["q"])
    engine.shed({})
    out.append(engine.process({"a": table.slice(300)})["q"])
    expected = [table.slice(0, 200), kept("a", 0.3, table.slice(200, 100)), table.slice(300)]
    assert [o["ts"].cast(pa.int64()).to_pylist() for o in out] == [
        t["ts"].to_pylist() for t in expected
    ]


def test_reports_of_kept_rows_survive_a_restart() -> None:
    def told(engine: Engine) -> Any:
        query = engine.queries["q"].stats()
        report = engine.stats()["shedding"]
        return report, query["kept"], query["expected_output_share"], engine.queries["q"].explain()

    engine = engine_with(keep={"a": 0.5, "b": 0.2})
    engine.sql(DDL)
    engine.process({"a": rows(8, 100)})
    engine.query(JOIN + SHED, name="q")
    engine.process({"a": rows(9, 300), "b": rows(10)})
    saved = io.BytesIO()
    engine.save(saved)
    saved.seek(0)
    loaded = Engine.load(saved)
    assert told(loaded) == told(engine)
    assert loaded.process({}).kept == {}
    more = {"a": rows(11).slice(300), "b": rows(12).slice(300)}
    assert loaded.process(more).kept == engine.process(more).kept != {}
    assert told(loaded) == told(engine)


def test_kept_rows_are_reported_with_the_plan_and_the_changes() -> None:
    engine = engine_with(keep={"a": 0.5, "b": 0.5})
    engine.sql(DDL)
    query = engine.query("SELECT a.k FROM a [RANGE 1 SECOND], b [RANGE 1 SECOND]" + SHED, name="q")
    changes = engine.process({"a": rows(13), "b": rows(14)})
    passed = kept("a", 0.5, rows(13)).num_rows
    assert (changes.kept["a"].seen, changes.kept["a"].kept) == (400, passed)
    assert f"kept {passed} of 400 rows of a" in repr(changes)
    assert query.stats()["expected_output_share"] == pytest.approx(0.25)
    text = query.explain()
    assert "\nON OVERLOAD SHED\n" in text
    assert f"keeps 0.5 of a ({passed / 400:.3g} so far)" in text
    assert "expected output: 0.25 of full" in text
