"""What plans need together: the numbers of the static-optimization paper, and real footprints."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.plan import Distinct, Filter, Join, StreamScan
from eddyline.algebra.windows import Range, Rows, Unbounded
from eddyline.optimizer.load import load_of
from eddyline.optimizer.prices import Prices
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.runtime.footprint import nbytes_of
from eddyline.testing import engine_with
from eddyline.testing.feeding import process_all
from eddyline.types import Field

K = ColumnRef(pa.int64(), 0, "k")
FIELDS = (Field("k", pa.int64()),)


def rows(stream: str, window: int) -> StreamScan:
    return StreamScan(stream, Rows(window), FIELDS)


def test_rates_and_windows_of_a_join_do_not_depend_on_its_order() -> None:
    """Observation 1 of Ayad and Naughton 2004, section 3.1.3: equations 5 and 6."""
    rates = {"a": 100.0, "b": 10.0, "c": 50.0}
    windows = {"a": 200, "b": 300, "c": 400}
    known = Statistics(rates, {}, {(s, "k"): 50.0 for s in "abc"})
    a, b, c = (rows(s, windows[s]) for s in "abc")
    keys = ((K, K),)
    f = 1 / 50
    for x, y, z in ((a, b, c), (a, c, b), (b, c, a)):
        load = load_of([Join(Join(x, y, keys), z, keys)], known)
        assert load is not None
        top = load.nodes[0]
        assert top.rows == pytest.approx(f * f * 200 * 300 * 400)
        expected = f * f * (100 * 300 * 400 + 10 * 200 * 400 + 50 * 200 * 300)
        assert top.rate == pytest.approx(expected)


def test_equal_parts_of_plans_count_once_and_a_stream_is_kept_once() -> None:
    known, prices = Statistics({"a": 100.0}), Prices()
    short, long = (StreamScan("a", Range(s * 1_000_000), FIELDS) for s in (1, 10))
    flag = ColumnRef(pa.bool_(), 0, "k")
    one, other, both = (
        load_of(plans, known, prices)
        for plans in ([Filter(short, flag)], [long], [Filter(short, flag), short, long])
    )
    assert one is not None and other is not None and both is not None
    assert both.cores == pytest.approx(one.cores + other.cores)
    assert both.nbytes == other.nbytes


def test_rows_of_an_unbounded_stream_are_kept_only_where_they_are_looked_up() -> None:
    known = Statistics({"a": 100.0, "b": 100.0})
    endless = StreamScan("a", Unbounded(), FIELDS)
    passing = load_of([Filter(endless, ColumnRef(pa.bool_(), 0, "k"))], known)
    distinct = load_of([Join(Distinct(endless), rows("b", 3), ((K, K),))], known)
    joined = load_of([Join(endless, rows("b", 3), ((K, K),))], known)
    assert passing is not None and distinct is not None and joined is not None
    assert passing.nbytes == 0
    assert distinct.nbytes < 1e6 < joined.nbytes


def test_there_is_no_verdict_without_rates() -> None:
    assert load_of([rows("a", 3)], UNKNOWN) is None
    assert load_of([Join(rows("a", 3), rows("b", 3), ())], Statistics({"b": 1.0})) is not None


N, SECONDS = 60_000, 60


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.x FROM a [RANGE 30 SECONDS]",
        "SELECT a.x, b.x AS y FROM a [RANGE 30 SECONDS], b [RANGE 60 SECONDS] WHERE a.k = b.k",
        "SELECT DISTINCT k FROM a [RANGE 30 SECONDS]",
        "SELECT k, SUM(x) AS s, COUNT(*) AS n FROM a [RANGE 30 SECONDS] GROUP BY k",
        "SELECT a.x FROM a [RANGE 30 SECONDS] WHERE NOT EXISTS "
        "(SELECT * FROM b [RANGE 30 SECONDS] WHERE a.k = b.k)",
        "SELECT a.x FROM a [RANGE 9 SECONDS], b [RANGE 9 SECONDS], c [RANGE 60 SECONDS] "
        "WHERE a.k = b.k AND a.x = c.x",
    ],
)
def test_memory_is_what_arrays_really_take_within_a_factor(sql: str) -> None:
    engine = engine_with(executor="tree", feedback="off", chunk_rows=2_048)
    rng = np.random.default_rng(1)
    data = {}
    for name in "abc":
        engine.sql(
            f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts "
            f"WITH (rate = {N / SECONDS}, distinct = 'k: 5000, x: 5000')"
        )
        ts = np.sort(rng.integers(0, SECONDS * 1_000_000, N))
        data[name] = pa.table({"ts": ts, **{c: rng.integers(0, 5000, N) for c in "kx"}})
    query = engine.query(sql)
    process_all(engine, data)
    load = load_of([query.plan], engine.statistics)
    assert load is not None
    kept = nbytes_of(query.operator)
    assert load.nbytes / 2 < kept < 4 * load.nbytes, (load.nbytes, kept)
