"""What an engine measures of its inputs: right within some percent, and it outlives the engine."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddyline import Engine
from eddyline.engine.ingest.meters import Meter
from eddyline.optimizer.compared import columns_compared
from eddyline.testing import engine_with
from eddyline.testing.feeding import process_all
from golden import bound_plan

STREAMS = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT, name STRING, x DOUBLE) TIMESTAMP BY ts;
CREATE STREAM b (ts TIMESTAMP, k BIGINT, name STRING, x DOUBLE) TIMESTAMP BY ts;
"""
JOIN = "SELECT a.x FROM a [RANGE 1 SECOND], b [RANGE 1 SECOND] WHERE a.k = b.k AND a.name = b.name"


def rows(start_s: float, seconds: float, rate: float, k: int, names: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    count = round(seconds * rate)
    ts = np.sort(rng.uniform(start_s, start_s + seconds, count) * 1e6).astype(np.int64)
    texts = pa.array([f"name {n}" for n in range(names)])
    return pa.table(
        {
            "ts": ts,
            "k": rng.integers(0, k, count),
            "name": texts.take(pa.array(rng.integers(0, names, count))),
            "x": rng.random(count),
        }
    )


def between(table: pa.Table, start: int, end: int) -> pa.Table:
    return table.filter(pc.and_(pc.greater_equal(table["ts"], start), pc.less(table["ts"], end)))


def engine(**options: Any) -> Engine:
    made = engine_with(**options)
    made.sql(STREAMS)
    made.query(JOIN, name="q")
    return made


@pytest.mark.parametrize("per_call", [1, 20])
@pytest.mark.parametrize(("rate", "k", "names"), [(2_000.0, 300, 20), (10_000.0, 3_000, 1_000)])
def test_rates_and_numbers_of_values(rate: float, k: int, names: int, per_call: int) -> None:
    made = engine()
    a, b = rows(0, 20, rate, k, names), rows(0, 20, rate / 10, k, names, seed=1)
    for call in range(per_call):
        start, end = (20_000_000 * c // per_call for c in (call, call + 1))
        made.process({"a": between(a, start, end), "b": between(b, start, end)})
    known = made.measured
    assert known.rates["a"] == pytest.approx(rate, rel=0.03)
    assert known.rates["b"] == pytest.approx(rate / 10, rel=0.05)
    assert known.values["a", "k"] == pytest.approx(k, rel=0.15)
    assert known.values["a", "name"] == pytest.approx(names, rel=0.15)
    assert ("a", "x") not in known.values, "no query compares it"


def test_recent_rows_count_most() -> None:
    made = engine()
    for start, rate, k in ((0, 1_000, 100), (60, 20_000, 1_000)):
        for second in range(start, start + 60):
            process_all(made, {"a": rows(second, 1, rate, k, 3, seed=second)})
    assert made.measured.rates["a"] == pytest.approx(20_000, rel=0.05)
    assert made.measured.values["a", "k"] == pytest.approx(1_000, rel=0.1)


def test_a_stream_that_falls_silent_has_a_lower_rate_as_long_as_others_bring_rows() -> None:
    made = engine()
    process_all(made, {"a": rows(0, 10, 100, 3, 3), "b": rows(0, 10, 100, 3, 3)})
    process_all(made, {"b": rows(10, 30, 100, 3, 3)})
    assert made.measured.rates["a"] == pytest.approx(25, rel=0.05)
    made.advance(3_600_000_000)
    assert made.measured.rates["b"] == pytest.approx(100, rel=0.05), "no rows come"


def test_few_rows_are_no_measurement_unless_over_a_long_time() -> None:
    made = engine()
    process_all(made, {"a": rows(0, 1, 5, 3, 3)})
    assert "a" not in made.measured.rates
    process_all(made, {"b": rows(99, 2, 100, 3, 3)})
    assert made.measured.rates["a"] == pytest.approx(0.04, rel=0.05)


def test_unique_ids_give_a_lower_bound_of_the_number_of_values() -> None:
    made = engine()
    table = rows(0, 20, 5_000, 10, 10)
    process_all(made, {"a": table.set_column(1, "k", pa.array(np.arange(len(table))))})
    assert made.measured.values["a", "k"] > 2_000


@pytest.mark.parametrize("chunk_rows", [7, 500, 4_096])
def test_how_chunks_are_cut_hardly_matters(chunk_rows: int) -> None:
    made = engine(chunk_rows=chunk_rows)
    process_all(made, {"a": rows(0, 20, 1_000, 200, 3)})
    assert made.measured.rates["a"] == pytest.approx(1_000, rel=0.01)
    assert made.measured.values["a", "k"] == pytest.approx(200, rel=0.15)


def test_it_is_saved() -> None:
    made = engine()
    made.process({"a": rows(0, 20, 5_000, 300, 20)})
    file = io.BytesIO()
    made.save(file)
    file.seek(0)
    again = Engine.load(file)
    assert again.measured.as_dict() == made.measured.as_dict()
    for one in (made, again):
        one.process({"a": rows(20, 20, 9_000, 700, 20)})
    assert again.measured.as_dict() == made.measured.as_dict()


def test_state_is_bounded() -> None:
    meter = Meter()
    meter.watch([0])
    for start in range(0, 2_000_000, 100_000):
        ids = np.arange(start, start + 100_000)
        meter.see(ids * 1_000, [pa.array(ids)])
    state: Any = meter.state()
    assert sum(v.nbytes for v in state["values"]["0"].values()) < 10_000


def test_tables() -> None:
    made = Engine()
    made.sql(
        "CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;"
        "CREATE TABLE fixed (k BIGINT, v BIGINT);"
        "CREATE TABLE live (k BIGINT, v BIGINT) WITH (updates = 'retroactive');"
    )
    made.table("fixed", pa.table({"k": np.arange(600) % 60, "v": np.arange(600)}))
    made.query("SELECT a.k FROM a [NOW], fixed WHERE a.k = fixed.k")
    made.query("SELECT a.k FROM a [RANGE 1 SECOND], live WHERE a.k = live.k")
    added = np.arange(400)
    signs = ["+"] * 400 + ["-"] * 100
    made.process(
        {
            "a": pa.table({"ts": [0, 100_000_000], "k": [1, 2]}),
            "live": pa.table(
                {
                    "_ts": np.r_[added, added[:100] + 400] * 100_000,
                    "_op": signs,
                    "k": np.r_[added, added[:100]] % 25,
                    "v": np.r_[added, added[:100]],
                }
            ),
        }
    )
    known = made.measured
    assert known.table_rows == {"fixed": 600, "live": 300}
    assert known.rates["live"] == pytest.approx(4, rel=0.03)
    assert known.values["fixed", "k"] == pytest.approx(60, rel=0.05)
    assert known.values["live", "k"] == pytest.approx(25, rel=0.05)


@pytest.mark.parametrize(
    ("sql", "compared"),
    [
        ("SELECT price FROM trades [NOW] WHERE price > 3 AND qty = 4", {("trades", "qty")}),
        (
            "SELECT upper(symbol) AS s, COUNT(*) AS n FROM trades [ROWS 9] GROUP BY upper(symbol)",
            {("trades", "symbol")},
        ),
        (
            "SELECT t.price FROM trades [NOW] t, (SELECT symbol AS s, size FROM quotes [NOW]) q "
            "WHERE t.symbol = q.s AND t.price < q.size",
            {("trades", "symbol"), ("quotes", "symbol")},
        ),
        (
            "SELECT price FROM trades [PARTITION BY symbol ROWS 3] UNION SELECT bid FROM quotes "
            "[NOW]",
            {("trades", "symbol"), ("trades", "price"), ("quotes", "bid")},
        ),
        (
            "SELECT symbol FROM trades [NOW] t WHERE NOT EXISTS (SELECT * FROM companies c "
            "WHERE c.symbol = t.symbol)",
            {("trades", "symbol"), ("companies", "symbol")},
        ),
    ],
)
def test_columns_that_plans_compare(sql: str, compared: set[tuple[str, str]]) -> None:
    from eddyline.optimizer.optimizer import optimize

    assert columns_compared(optimize(bound_plan(sql))) == compared


def test_explain_shows_what_was_measured_and_analyze_beside_what_was_expected() -> None:
    made = engine_with(executor="tree")
    made.sql(STREAMS.replace("TIMESTAMP BY ts;", "TIMESTAMP BY ts WITH (rate = 500);", 1))
    query = made.query(JOIN, name="q")
    of_b = "SELECT x FROM b [RANGE 1 SECOND]"
    assert "expected" not in made.explain(of_b), "nothing is known of b"
    made.process({"a": rows(0, 20, 1_000, 300, 20), "b": rows(0, 20, 100, 300, 20)})
    assert "expected" in made.explain(of_b)
    assert "assumed" not in query.explain(), "what is not declared was measured"
    (text,) = made.sql("EXPLAIN ANALYZE q")
    assert isinstance(text, str)
    lines = [line.rsplit(maxsplit=2) for line in text.splitlines() if line]
    by_head = {line[0]: line[1:] for line in lines if len(line) == 3}
    expected, measured = by_head["a rows/s"]
    assert expected == "500"
    assert float(measured.replace(",", "")) == pytest.approx(1_000, rel=0.03)
    assert by_head["b rows/s"][0] == "-"
    assert float(by_head["a.k values"][1]) == pytest.approx(300, rel=0.1)
    join = next(line for line in text.splitlines() if line.startswith("Join") and " us " in line)
    seconds = next(o["seconds"] for o in made.stats()["operators"] if o["operator"] == "Join")
    assert float(join.split()[1]) == pytest.approx(seconds / 22_000 * 1e6, rel=0.01)
    assert float(join.split()[3]) == pytest.approx(seconds / 20 * 100, rel=0.02)
