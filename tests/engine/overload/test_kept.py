"""``_kept``: the keep rate in force for the rows of a result, against the oracle."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.engine.overload.keep_steps import KeepSteps
from eddyline.errors import SqlError
from eddyline.testing import engine_with
from eddyline.testing.bags import plain
from eddyline.testing.oracle import Oracle
from eddyline.types import BEGINNING

DDL = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts LATENESS 1 SECOND;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts LATENESS 1 SECOND;
    CREATE VIEW w AS SELECT k, v, _kept FROM a [RANGE 2 SECONDS] WHERE v > 20;
"""
#: The rows that boxes keep, with the rates by which they do.
KEPT_ROWS = "SELECT ts, k, v, _kept FROM {} [UNBOUNDED] ON OVERLOAD SHED"
QUERIES = {
    "projected": "SELECT k, 2 * _kept AS twice, _kept FROM a [RANGE 2 SECONDS] WHERE v > 50",
    "joined": "SELECT a.k, b.v, _kept, b._kept AS of_b FROM a [RANGE 1 SECOND], "
    "b [RANGE 3 SECONDS] WHERE a.k = b.k",
    "grouped": "SELECT k, COUNT(*) AS n, SUM(1 / _kept) AS every, COUNT(*) / SUM(1 / _kept) AS s "
    "FROM a [RANGE 2 SECONDS] GROUP BY k HAVING SUM(1 / _kept) > 3",
    "estimated": "SELECT k, scaled_count(*) AS n, scaled_sum(v + 1) AS t, scaled_avg(v) AS m, "
    "scaled_count(NULLIF(v, 7)) AS c FROM a [RANGE 2 SECONDS] GROUP BY k",
    "estimated of a join": "SELECT a.k, scaled_sum(b.v) AS t FROM a [RANGE 1 SECOND], "
    "b [RANGE 1 SECOND] WHERE a.k = b.k GROUP BY a.k",
    "of a view": "SELECT b.k, _kept, w._kept AS of_w FROM w, b [ROWS 5] WHERE w.k = b.k",
    "of a sub-query": "SELECT x.k, _kept FROM (SELECT k, v, _kept FROM a [RANGE 1 SECOND]) AS x "
    "WHERE x.v > 5",
    "of two streams in a sub-query": "SELECT x.k, _kept, b.v FROM (SELECT a.k, _kept FROM "
    "a [RANGE 1 SECOND], b [RANGE 1 SECOND] WHERE a.k = b.k) AS x, b [ROWS 2] WHERE x.k = b.k",
}
RATES: list[Mapping[str, float]] = [{}, {"a": 0.5, "b": 0.7}, {"a": 0.2}, {"a": 0.9, "b": 0.4}, {}]


def second(at: int) -> dict[str, pa.Table]:
    """Rows of a second, some of them out of order by up to half a second."""
    found = {}
    for number, name in enumerate("ab"):
        rng = np.random.default_rng([at, number])
        ts = np.sort(rng.integers(0, 1_000_000, 40)) + at * 1_000_000
        ts -= (rng.random(40) < 0.2) * rng.integers(0, 500_000, 40)
        columns = {"k": rng.integers(0, 4, 40), "v": rng.integers(0, 100, 40)}
        found[name] = pa.table({"ts": np.maximum(ts, 0), **columns})
    return found


@pytest.mark.parametrize("executor", ["tree", "eddy"])
@pytest.mark.parametrize("restarts", [False, True])
def test_results_carry_what_was_kept_of_their_rows(executor: str, restarts: bool) -> None:
    eng = engine_with(executor=executor, keep={"a": 1.0})
    eng.sql(DDL)
    names = dict(zip(QUERIES, "pqrstuxy", strict=True))
    for name, sql in QUERIES.items():
        eng.query(f"{sql} ON OVERLOAD SHED", name=names[name])
    for stream in "ab":
        eng.query(KEPT_ROWS.format(stream), name=f"rows_{stream}")
    kept: dict[str, list[pa.Table]] = {"a": [], "b": []}
    for at in range(2 * len(RATES)):
        eng.shed(RATES[at // 2])
        out = eng.process(second(at))
        for stream, tables in kept.items():
            changes = out[f"rows_{stream}"].select(["ts", "k", "v", "_kept"])
            tables.append(changes)
        if restarts and at % 3 == 1:
            saved = io.BytesIO()
            eng.save(saved)
            saved.seek(0)
            eng = Engine.load(saved)
        oracle = Oracle(
            {s: pa.concat_tables(t) for s, t in kept.items()},
            views={"w": "SELECT k, v, _kept FROM a [RANGE 2 SECONDS] WHERE v > 20"},
        )
        for name, sql in QUERIES.items():
            answer = eng.queries[names[name]].snapshot()
            found = sorted(tuple(map(plain, row.values())) for row in answer.to_pylist())
            expected = oracle.answer(sql, eng.clock)
            assert len(found) == len(expected), name
            for mine, theirs in zip(found, sorted(expected), strict=True):
                assert mine == pytest.approx(theirs), name
    rates = {s: set(pa.concat_tables(t)["_kept"].to_pylist()) for s, t in kept.items()}
    assert rates == {"a": {1.0, 0.5, 0.2, 0.9}, "b": {1.0, 0.7, 0.4}}


def test_rows_out_of_order_are_kept_by_the_rate_of_their_time() -> None:
    eng = engine_with(keep={"s": 1.0})
    eng.sql("CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts LATENESS 1 MINUTE")
    query = eng.query("SELECT x, _kept FROM s [RANGE 1 HOUR] ON OVERLOAD SHED", name="q")
    eng.process({"s": pa.table({"ts": [10_000_000], "x": [-1]})})
    eng.shed({"s": 0.3})
    early, late = 9_000_000 + np.arange(1000), 11_000_000 + np.arange(1000)
    eng.process({"s": pa.table({"ts": np.concatenate((late, early)), "x": np.arange(2000)})})
    eng.advance(80_000_000)
    rows = query.snapshot().to_pylist()
    by_rate = {rate: [r for r in rows if r["_kept"] == rate] for rate in (1.0, 0.3)}
    assert len(by_rate[1.0]) == 1001, "those before the decision"
    assert 230 < len(by_rate[0.3]) < 370


def test_without_drop_boxes_all_is_kept() -> None:
    eng = Engine()
    eng.sql(DDL)
    query = eng.query("SELECT k, _kept FROM a [RANGE 1 HOUR]", name="q")
    eng.process(second(0))
    eng.advance(10_000_000)
    assert set(query.snapshot()["_kept"].to_pylist()) == {1.0}


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT k FROM a WHERE _kept < 1", "there is no column '_kept'; valid: k, ts, v"),
        (
            "SELECT k, _kept FROM a [NOW] GROUP BY k",
            "_kept is of single rows: of a group write COUNT(*) / SUM(1 / _kept)",
        ),
        (
            "SELECT x.k, _kept FROM (SELECT a.k FROM a [NOW], b [NOW] WHERE a.k = b.k) AS x",
            "_kept is not known of the rows of 'x': write it in the select list of its sub-query",
        ),
        ("SELECT _kept FROM c", "_kept needs the event time of 'c' as a column"),
    ],
)
def test_where_it_has_no_meaning_the_error_says_so(sql: str, message: str) -> None:
    eng = Engine()
    eng.sql(DDL + "CREATE STREAM c (ms BIGINT) TIMESTAMP BY (timestamp_millis(ms));")
    with pytest.raises(SqlError, match="_kept") as error:
        eng.query(sql)
    assert error.value.message.startswith(message)


def test_steps_are_remembered_by_time() -> None:
    steps = KeepSteps()
    steps.step(BEGINNING, 0.5)
    steps.step(100, 0.2)
    steps.step(200, 0.2)
    steps.step(300, 0.8)
    steps.step(300, 0.4)
    assert steps.at(np.array([-5, 99, 100, 299, 300, 10**9])).tolist() == [
        *(0.5, 0.5, 0.2, 0.2, 0.4, 0.4)
    ]
    assert steps.at(np.array([300, 301])).tolist() == [0.4, 0.4]
    assert [steps.largest(ts) for ts in (0, 100, 250, 300, 400)] == [0.5, 0.4, 0.4, 0.4, 0.4]
    again = KeepSteps()
    again.restore(steps.state())
    assert again.at(np.arange(400)).tolist() == steps.at(np.arange(400)).tolist()
    for at in range(20_000):
        steps.step(1_000 + at, 0.1 + at % 2 / 2)
    assert len(again.state()[0]) == 3
    assert len(steps.state()[0]) == 10_000
    assert steps.at(np.array([0])).tolist() == [0.1]
