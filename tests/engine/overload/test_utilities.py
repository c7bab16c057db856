"""ON OVERLOAD SHED BY: the rows of the lowest values are dropped, however rows come."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import CatalogError, Engine, EngineOptions
from eddyline.engine.overload.utility_sketch import ENTRIES, UtilitySketch
from eddyline.engine.query import Query
from eddyline.errors import EddylineError
from eddyline.testing import engine_with
from eddyline.testing.bags import plain
from golden import check_golden

DDL = """
    CREATE STREAM s (ts TIMESTAMP, k BIGINT, v DOUBLE, name STRING) TIMESTAMP BY ts;
    CREATE STREAM t (ts TIMESTAMP, k BIGINT, w DOUBLE) TIMESTAMP BY ts;
    CREATE STREAM u (ts TIMESTAMP, w DOUBLE) TIMESTAMP BY ts;
    CREATE VIEW estimates AS SELECT scaled_count(*) AS n FROM s [RANGE 1 SECOND];
"""
ALL = "SELECT ts, k, v FROM s ON OVERLOAD SHED BY "
N = 24_000
SECONDS = 12


def rows(seed: int = 1, n: int = N, scale: float = 1.0) -> pa.Table:
    """Rows in order of time, over twelve seconds, of which the last two periods have 4 and 5."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "ts": np.sort(rng.integers(0, SECONDS * 1_000_000, n)),
            "k": rng.integers(0, 10, n),
            "v": rng.normal(size=n) * scale,
            "name": ["x"] * n,
        }
    )


def engine_for(sql: str = ALL + "v", keep: float = 0.3, **options: Any) -> Engine:
    engine = engine_with(**{"keep": {"s": keep}, **options})
    engine.sql(DDL)
    engine.query(sql, name="q")
    return engine


def kept(
    parts: Sequence[pa.Table], engine: Engine | None = None, *, restarts: bool = False
) -> pa.Table:
    """The rows that are kept of parts of the stream."""
    engine = engine_for() if engine is None else engine
    found = []
    for part in parts:
        found.append(engine.process({"s": part})["q"])
        if restarts:
            saved = io.BytesIO()
            engine.save(saved)
            saved.seek(0)
            engine = Engine.load(saved)
    return pa.concat_tables(found)


def cut(table: pa.Table, parts: int) -> list[pa.Table]:
    places = np.linspace(0, len(table), parts + 1).astype(int)
    return [table.slice(a, b - a) for a, b in pairwise(places)]


def exact_cuts(table: pa.Table, column: str, keep: float) -> np.ndarray[Any, Any]:
    """Of each row the value that the share of the rows of the period before has, or a higher one;
    NaN in the first period. Periods begin at 0, 1, 3 and 7 seconds after the first row.
    """
    ts, values = (np.asarray(table[c], np.float64) for c in ("ts", column))
    period = np.searchsorted(ts[0] + np.array([0, 1, 3, 7]) * 1e6, ts, "right") - 1
    cuts = [np.nan, *(np.quantile(values[period == p], 1 - keep) for p in range(3))]
    return np.array(cuts)[period]


@pytest.mark.parametrize("keep", [0.02, 0.3, 0.5, 0.9])
def test_the_rows_of_the_highest_values_are_kept(keep: float) -> None:
    table = rows()
    found = kept([table], engine_for(keep=keep))
    is_kept = np.isin(np.asarray(table["v"]), np.asarray(found["v"]))
    limits = exact_cuts(table, "v", keep)
    ranked = ~np.isnan(limits)
    assert 0.9 < ranked.mean() < 0.95, "of the first second rows are drawn"
    should = np.asarray(table["v"]) > limits
    assert (is_kept == should)[ranked].mean() > 0.985, "but for those near the cut"
    assert abs(is_kept[ranked].mean() - keep) < 0.02
    assert abs(is_kept[~ranked].mean() - keep) < 0.05
    drawn = np.asarray(table["v"])[is_kept & ~ranked]
    assert abs(drawn.mean()) < 4 / np.sqrt(drawn.size), "as all rows: of any value"


def test_no_row_above_the_cut_of_its_time_is_dropped_and_none_below_is_kept() -> None:
    table = rows()
    found = kept([table])
    is_kept = np.isin(np.asarray(table["v"]), np.asarray(found["v"]))
    period = (
        np.searchsorted(
            int(table["ts"][0].as_py()) + np.array([0, 1, 3, 7]) * 1e6, table["ts"], "right"
        )
        - 1
    )
    for p in (1, 2, 3):
        values = np.asarray(table["v"])
        assert values[is_kept & (period == p)].min() > values[~is_kept & (period == p)].max()


def test_the_same_rows_are_kept_however_they_come() -> None:
    table = rows()
    expected = kept([table])
    for parts in (2, 7, 60, 3_001):
        assert kept(cut(table, parts)) == expected
    assert kept(cut(table, 9), restarts=True) == expected
    assert kept([table], engine_for(chunk_rows=7)) == expected
    assert kept([table], engine_for(decide="after")) == expected


def test_few_rows_make_a_long_period() -> None:
    table = rows(n=1_000)  # 83 of each second
    expected = kept([table], engine_for(keep=0.5))
    for parts in (3, 50, 1_000):
        assert kept(cut(table, parts), engine_for(keep=0.5)) == expected
    late = np.asarray(expected["ts"]).astype(np.int64) > 4_100_000
    assert np.asarray(expected["v"])[late].min() > -0.3, "256 rows are there after 3 to 4 seconds"


def test_the_cut_follows_the_values() -> None:
    """Values that are ten times as large from the fourth second on."""
    table = pa.concat_tables([rows(1), rows(2, scale=10.0)])
    ts = np.concatenate(
        (np.asarray(rows(1)["ts"]), np.asarray(rows(2)["ts"]) + SECONDS * 1_000_000)
    )
    table = table.set_column(0, "ts", pa.array(ts))
    found = kept(cut(table, 24), engine_for(decide_every="4 seconds"))
    when = np.asarray(found["ts"]).astype(np.int64)
    share = np.histogram(when, 24, (0, 24e6))[0] / 2_000
    assert np.abs(share[1:11] - 0.3).max() < 0.06
    assert share[12] > 0.4, "more rows are above the cut of the smaller ones"
    assert np.abs(share[-5:] - 0.3).max() < 0.06


def test_rows_with_the_value_of_the_cut_are_drawn() -> None:
    found = kept([rows()], engine_for(ALL + "k"))
    late = found.filter(pa.array(np.asarray(found["ts"]).astype(np.int64) > 1_000_100))
    counts = np.bincount(np.asarray(late["k"]), minlength=10)
    assert not counts[:6].any()
    assert counts[8:].min() > 2_000, "all of the 2,200 of each"
    assert 0.28 < len(late) / (N * 11 / 12) < 0.32


@pytest.mark.parametrize(
    ("utility", "lowest"),
    [
        ("IF(k < 5, NULL, v)", lambda k, v: k < 5),
        ("IF(k < 5, -1e308, v)", lambda k, v: k < 5),
        ("1 / (k DIV 5)", lambda k, v: k < 5),  # fails
        ("-k", lambda k, v: k >= 5),
        ("k >= 5", lambda k, v: k < 5),
        ("CAST(k AS DECIMAL(10, 2))", lambda k, v: k < 5),
        ("CASE WHEN k < 5 THEN 0.0 ELSE double('nan') END", lambda k, v: k < 5),
        ("timestamp_seconds(k)", lambda k, v: k < 5),
    ],
)
def test_null_and_what_fails_is_lowest_and_all_types_have_an_order(
    utility: str, lowest: Any
) -> None:
    engine = engine_for(ALL + utility, keep=0.4)
    out = engine.process({"s": rows()})
    found = out["q"].filter(pa.array(np.asarray(out["q"]["ts"]).astype(np.int64) > 1_000_100))
    is_lowest = lowest(np.asarray(found["k"]), np.asarray(found["v"]))
    assert is_lowest.sum() < 0.002 * N, "only where half of a sample is not half of all"
    assert not out.bad, "a row without a value is not bad"


def test_each_stream_of_a_join_is_ranked_by_its_own() -> None:
    engine = engine_with(keep={"s": 0.5, "t": 0.25})
    engine.sql(DDL)
    sql = "SELECT x.v, t.w FROM s [RANGE 1 SECOND] AS x, t [RANGE 1 SECOND] WHERE x.k = t.k"
    engine.query(f"{sql} ON OVERLOAD SHED BY ABS(x.v), t.w", name="q")
    s = rows(1, 4_000)
    t = rows(2, 4_000).select(["ts", "k", "v"]).rename_columns(["ts", "k", "w"])
    found = engine.process({"s": s, "t": t})["q"]
    late = found.filter(pa.array(np.asarray(found["_ts"]).astype(np.int64) > 3_000_000))
    assert np.abs(np.asarray(late["v"])).min() > 0.55
    assert np.asarray(late["w"]).min() > 0.5
    assert engine.shedding["s"]["by"] == "abs(s.v)"
    assert engine.shedding["t"]["by"] == "t.w"


def test_windows_and_groups_have_the_rows_that_are_kept() -> None:
    table = rows(n=6_000)
    sql = "SELECT k, COUNT(*) AS n, MIN(v) AS low FROM s [RANGE 2 SECONDS] GROUP BY k"
    of_kept = engine_with()
    of_kept.sql(DDL)
    of_kept.query(sql, name="q")
    plain_rows = (
        kept([table])
        .select(["ts", "k", "v"])
        .append_column("name", pa.array(["x"] * len(kept([table]))))
    )
    expected = of_kept.process({"s": plain_rows})["q"]
    found = engine_for(f"{sql} ON OVERLOAD SHED BY v").process({"s": table})["q"]
    assert _bag(found) == _bag(expected)


def _bag(table: pa.Table) -> list[Any]:
    return sorted(tuple(map(plain, row.values())) for row in table.to_pylist())


def test_rows_out_of_order_are_kept_by_the_cut_of_their_time() -> None:
    ddl = DDL.replace("STRING) TIMESTAMP BY ts", "STRING) TIMESTAMP BY ts LATENESS 1 SECOND")
    table = rows()
    rng = np.random.default_rng(3)
    nearly = table.take(
        np.argsort(np.asarray(table["ts"]) + rng.integers(0, 50_000, N), kind="stable")
    )
    found = []
    for order, parts in ((table, 1), (nearly, 1), (nearly, 30)):
        engine = engine_with(keep={"s": 0.3})
        engine.sql(ddl)
        engine.query(ALL + "v", name="q")
        tables = [engine.process({"s": part})["q"] for part in cut(order, parts)]
        tables.append(engine.advance(20_000_000)["q"])
        found.append(set(np.asarray(pa.concat_tables(tables)["v"]).tolist()))
    assert len(found[0] ^ found[1]) == 0, "one call has all rows of a period before the next one"
    assert len(found[0] ^ found[2]) < 0.01 * N, "those behind a boundary do not count"


def test_queries_must_rank_the_rows_of_a_stream_alike() -> None:
    engine = engine_for()
    engine.query("SELECT k FROM s AS x ON OVERLOAD SHED BY x.v", name="same")
    with pytest.raises(CatalogError) as caught:
        engine.query(ALL + "k", name="other")
    assert str(caught.value) == (
        "query 'other' drops rows of s BY k, and query 'q' BY v: a stream has one drop box, so "
        "write the same behind ON OVERLOAD SHED in both"
    )
    with pytest.raises(CatalogError, match="'other' drops rows of s at random, and query 'q' BY"):
        engine.query("SELECT k FROM s ON OVERLOAD SHED", name="other")
    assert set(engine.queries) == {"q", "same"}
    engine.query("SELECT k FROM s", name="all_rows")
    assert engine.shedding["s"]["why"] == "query all_rows does not allow shedding"
    for name in ("q", "same"):
        engine.drop(name)
    engine.query("SELECT k FROM s ON OVERLOAD SHED", name="other")
    assert "by" not in engine.shedding["s"]


def test_the_decided_share_is_kept_and_reported() -> None:
    engine = engine_with(costs="modelled")
    engine.sql(DDL)
    engine.query(
        "SELECT k, MAX(v) AS high FROM s [RANGE 5 SECONDS] GROUP BY k ON OVERLOAD SHED BY v",
        name="q",
    )
    seconds = [rows(i, 2_000) for i in range(40)]
    for i, part in enumerate(seconds):
        ts = pa.array(np.arange(2_000) * 500 + i * 1_000_000)
        engine.process({"s": part.set_column(0, "ts", ts)})
        if i == 6:
            assert engine.verdict is not None
            engine.parts.overload.allot(engine.verdict.needed / 2)
    report = engine.shedding["s"]
    assert 0.2 < report["keep"] < 0.7
    before = report["kept"], report["seen"]
    engine.process(
        {"s": rows(50, 2_000).set_column(0, "ts", pa.array(np.arange(2_000) * 500 + 40_000_000))}
    )
    after = engine.shedding["s"]
    share = (after["kept"] - before[0]) / (after["seen"] - before[1])
    assert abs(share - report["keep"]) < 0.05
    assert engine.advice is not None
    assert " % of s of the lowest v dropped" in engine.advice
    assert "output" not in engine.advice
    query = engine.queries["q"]
    assert query.stats()["expected_output_share"] is None, "they are no sample"
    text = query.explain()
    assert "ON OVERLOAD SHED BY v" in text
    assert f"keeps {report['keep']:.3g} of s, those of the highest v" in text
    assert "expected output" not in text


def test_kept_is_the_rate_of_the_time_of_a_row() -> None:
    engine = engine_for("SELECT v, _kept FROM s ON OVERLOAD SHED BY v", keep=0.3)
    found = engine.process({"s": rows()})["q"]
    assert set(found["_kept"].to_pylist()) == {0.3}


def test_a_reset_of_the_watermark_begins_anew() -> None:
    engine = engine_for()
    kept([rows()], engine)
    engine.sql("ALTER STREAM s RESET WATERMARK")
    again = kept([rows(2)], engine)
    assert _bag(again) == _bag(kept([rows(2)]))


def message(sql: str) -> str:
    engine = Engine(EngineOptions(keep={"s": 0.5}))
    engine.sql(DDL)
    engine.query("SELECT w FROM u ON OVERLOAD SHED BY w", name="first")
    try:
        (query,) = engine.sql(sql)
    except EddylineError as e:
        return f"{type(e).__name__}: {e}"
    assert isinstance(query, Query), "the others are wrong"
    return "\n".join(f"{s} BY {e}" for s, e in query.utilities.items())


def test_messages() -> None:
    check_golden(Path(__file__).parent / "golden" / "shed_by.sql", message)


# -- the sample --------------------------------------------------------


def test_a_sample_is_the_same_in_any_order_and_for_any_division() -> None:
    rng = np.random.default_rng(7)
    keys = rng.integers(0, 1_000, 50_000)
    hashes = rng.integers(0, 30_000, 50_000).astype(np.uint64) * np.uint64(1 << 40)
    keys = (hashes >> np.uint64(40)).astype(np.int64) % 1_000  # equal rows have equal values
    whole, parts = UtilitySketch(), UtilitySketch()
    whole.add(keys, hashes)
    order = rng.permutation(keys.size)
    for part in np.array_split(order, 97):
        parts.add(keys[part], hashes[part])
    assert (whole.state() == parts.state()).all()
    assert whole.state().shape == (3, ENTRIES)
    assert whole.rows == parts.rows == 50_000


def test_a_sample_of_few_rows_has_all_of_them() -> None:
    sketch = UtilitySketch()
    sketch.add(np.array([5, 1, 5, 3]), np.array([9, 2, 9, 4], np.uint64))
    ranks = sketch.ranks()
    assert ranks.keys.tolist() == [5, 3, 1]
    assert ranks.counts.tolist() == [2, 3, 4]
    assert ranks.cut(0.5) == (5, 1.0)
    assert ranks.cut(0.25) == (5, 0.5)
    assert ranks.cut(0.625) == (3, 0.5)
    assert ranks.cut(1.0) == (1, 1.0)
