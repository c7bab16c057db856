"""Estimates of what aggregates would be without drop boxes, and how far off they are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.errors import SqlError
from eddyline.testing import engine_with

FUNCTIONS = ("scaled_count(*)", "scaled_sum(v)", "scaled_avg(v)")
SCALED = ", ".join(
    f"{call} AS e{i}, {call.replace('(', '_error(')} AS b{i}" for i, call in enumerate(FUNCTIONS)
)


KEYS = 10


def rows(seed: int, n: int, alike: int) -> pa.Table:
    """``alike`` rows each are equal in the columns that a drop box looks at: ts, k and n."""
    rng = np.random.default_rng(seed)
    clusters = np.sort(rng.integers(0, 10_000_000, n // alike))
    k = rng.integers(0, KEYS, n // alike)
    columns = {"ts": clusters, "k": k, "n": rng.integers(0, 1000, n // alike)}
    repeated = {name: np.repeat(values, alike) for name, values in columns.items()}
    return pa.table({**repeated, "v": 10 + rng.exponential(5, n)})


def engine(name: str, keep: float) -> Engine:
    made = engine_with(keep={name: keep})
    made.sql(f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, n BIGINT, v DOUBLE) TIMESTAMP BY ts")
    return made


@pytest.mark.parametrize(("keep", "alike"), [(0.3, 1), (0.3, 8), (0.05, 2)])
def test_the_truth_is_within_the_error_nineteen_times_in_twenty(keep: float, alike: int) -> None:
    """Each stream's name is the seed of other draws, and of each there are ten groups."""
    trials, size = 25, 20_000
    table = rows(1, size, alike)
    k, v = (table[c].to_numpy() for c in "kv")
    truth = np.array([[(k == g).sum(), v[k == g].sum(), v[k == g].mean()] for g in range(KEYS)])
    found = []
    for trial in range(trials):
        eng = engine(f"s{trial}", keep)
        sql = f"SELECT k, {SCALED} FROM s{trial} [RANGE 1 HOUR] GROUP BY k ON OVERLOAD SHED"
        query = eng.query(sql, name="q")
        eng.process({f"s{trial}": table})
        groups = sorted(query.snapshot().to_pylist(), key=lambda row: row["k"])
        found.append([[(g[f"e{i}"], g[f"b{i}"]) for i in range(3)] for g in groups])
    estimates, bounds = np.moveaxis(np.array(found), 3, 0)  # by trial, group and function
    off = (estimates - truth) / truth
    assert (np.abs(off.mean(axis=(0, 1))) < 4 * off.std(axis=(0, 1)) / np.sqrt(trials * KEYS)).all()
    within = (np.abs(estimates - truth) <= bounds).mean(axis=(0, 1))
    assert (within > 0.9).all(), within
    assert (within < 0.99).all(), "the errors are not too large either"
    spread = (bounds / truth).mean(axis=(0, 1)) / off.std(axis=(0, 1))
    assert spread == pytest.approx([2.1] * 3, rel=0.15)


def test_groups_filters_and_rows_that_leave() -> None:
    eng = engine("s", 0.4)
    sql = (
        "SELECT k, scaled_count(*) AS n, scaled_sum(v) FILTER (WHERE n > 500) AS t, "
        "scaled_sum_error(v) AS e, COUNT(*) AS kept, SUM(1 / _kept) AS by_hand "
        "FROM s [RANGE 5 SECONDS] GROUP BY k ON OVERLOAD SHED"
    )
    query = eng.query(sql, name="q")
    table = rows(2, 9_000, 1)
    eng.process({"s": table})
    (clock,) = [eng.clock]
    ts, k = (table[c].to_numpy() for c in ("ts", "k"))
    for row in query.snapshot().to_pylist():
        alive = (k == row["k"]) & (ts > clock - 5_000_000) & (ts <= clock)
        assert row["n"] == row["by_hand"] == pytest.approx(row["kept"] / 0.4)
        assert row["n"] == pytest.approx(alive.sum(), rel=0.15)
        v = table["v"].to_numpy()
        assert row["t"] == pytest.approx(v[alive & (table["n"].to_numpy() > 500)].sum(), rel=0.25)
        assert 0 < row["e"] < 0.3 * v[alive].sum()
    eng.advance(60_000_000)
    assert query.snapshot().num_rows == 0


def test_nothing_is_dropped_so_nothing_is_estimated() -> None:
    eng = Engine()
    eng.sql("CREATE STREAM s (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts")
    query = eng.query(f"SELECT {SCALED}, scaled_count(v) AS c FROM s [RANGE 1 HOUR]")
    eng.process({"s": pa.table({"ts": [1, 2, 3], "v": pa.array([4, None, 6], pa.int64())})})
    eng.advance(1_000_000)
    (row,) = query.snapshot().to_pylist()
    assert row == {"e0": 3.0, "b0": 0.0, "e1": 10.0, "b1": 0.0, "e2": 5.0, "b2": 0.0, "c": 2.0}


def test_estimates_of_joins_are_products_and_have_no_error() -> None:
    eng = engine_with(keep={"a": 0.5, "b": 0.5})
    for name in "ab":
        eng.sql(
            f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, n BIGINT, v DOUBLE) TIMESTAMP BY ts"
        )
    joined = "FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR] WHERE a.n = b.n ON OVERLOAD SHED"
    query = eng.query(f"SELECT scaled_count(*) AS n, COUNT(*) AS kept {joined}", name="q")
    eng.process({"a": rows(1, 5_000, 1), "b": rows(2, 5_000, 1)})
    (row,) = query.snapshot().to_pylist()
    assert row["n"] == 4 * row["kept"]
    with pytest.raises(SqlError, match="of the rows of one stream only: not of joins"):
        eng.query(f"SELECT scaled_count_error(*) AS e {joined}")


def test_where_they_have_no_meaning_the_error_says_so() -> None:
    eng = engine("s", 0.5)
    with pytest.raises(SqlError, match=r"scaled_sum\(\*\) is not an aggregate; valid: scaled_sum"):
        eng.query("SELECT scaled_sum(*) FROM s [NOW]")
    with pytest.raises(SqlError, match="DISTINCT"):
        eng.query("SELECT scaled_sum(DISTINCT v) FROM s [NOW]")
