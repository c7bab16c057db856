"""The load that is measured: functions of users, their order, and what rows cost by themselves."""

from __future__ import annotations

import io
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine, EngineOptions

DDL = "CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts"
ROWS = 400  # per second


def busy(
    name: str, us: float, accepts: Callable[..., object], calls: Counter[str]
) -> Callable[..., pa.Array]:
    """A function that takes ``us`` microseconds of CPU time for each row."""

    def evaluate(x: pa.Array) -> pa.Array:
        calls[name] += len(x)
        end = time.thread_time() + us * 1e-6 * len(x)
        while time.thread_time() < end:
            pass
        return pa.array(accepts(np.asarray(x)))

    return evaluate


def second(at: int) -> dict[str, pa.Table]:
    x = np.random.default_rng(at).integers(0, 1_000, ROWS)
    return {"s": pa.table({"ts": (at * ROWS + np.arange(ROWS)) * (1_000_000 // ROWS), "x": x})}


def first_example(where: str, capacity: float = 1.0) -> tuple[Engine, Counter[str]]:
    """The first example of Ayad and Naughton 2004, with a fifth of its costs per row: 0.1 ms and a
    quarter of the rows, 0.2 ms and half of them.
    """
    calls: Counter[str] = Counter()
    engine = Engine(EngineOptions(capacity=capacity))
    engine.sql(DDL)
    fourth = busy("fourth", 100, lambda x: x % 4 == 0, calls)
    half = busy("half", 200, lambda x: (x // 4) % 2 == 0, calls)
    engine.function("fourth", fourth, args=["BIGINT"], returns="BOOLEAN")
    engine.function("half", half, args=["BIGINT"], returns="BOOLEAN")
    engine.query(f"SELECT x FROM s WHERE {where} ON OVERLOAD SHED", name="q")
    return engine, calls


@pytest.mark.parametrize("where", ["half(x) AND fourth(x)", "fourth(x) AND half(x)"])
def test_functions_are_called_in_the_order_of_cost_and_what_they_reject(where: str) -> None:
    engine, calls = first_example(where)
    for at in range(10):
        if at == 2:
            calls.clear()
        engine.process(second(at))
    assert calls["fourth"] > 0.95 * 8 * ROWS
    assert calls["half"] < 0.35 * 8 * ROWS
    found = engine.verdict
    assert found is not None
    assert found.needed == pytest.approx(ROWS * (100 + 200 / 4) * 1e-6, rel=0.25)
    assert found.feasible


def test_what_functions_cost_is_shed() -> None:
    engine, calls = first_example("fourth(x) AND half(x)", capacity=0.03)
    for at in range(12):
        if at == 10:
            calls.clear()
        engine.process(second(at))
    found = engine.verdict
    assert found is not None
    assert not found.feasible
    assert found.keep["s"] == pytest.approx(0.03 / 0.06, rel=0.3)
    assert calls["fourth"] == pytest.approx(2 * ROWS * found.keep["s"], rel=0.25)


def test_functions_in_select_lists_and_of_groups_count() -> None:
    calls: Counter[str] = Counter()
    engine = Engine()
    engine.sql(DDL)
    slow = busy("slow", 150, lambda x: x, calls)
    engine.function("slow", slow, args=["BIGINT"], returns="BIGINT")
    sql = "SELECT slow(x) AS k, COUNT(*) AS n FROM s [RANGE 5 SECONDS] GROUP BY slow(x)"
    engine.query(sql, name="q")
    for at in range(10):
        engine.process(second(at))
    found = engine.verdict
    assert found is not None
    assert found.needed == pytest.approx(calls["slow"] / 10 * 150e-6, rel=0.35)


def test_a_restart_knows_what_was_measured() -> None:
    engine, _ = first_example("fourth(x) AND half(x)")
    for at in range(10):
        engine.process(second(at))
    file = io.BytesIO()
    engine.save(file)
    file.seek(0)
    functions = {name: lambda x: x for name in ("fourth", "half")}
    again = Engine.load(file, functions=functions)
    before, after = engine.verdict, again.verdict
    assert before is not None
    assert after is not None
    assert after.needed == pytest.approx(before.needed, rel=0.01)


def test_modelled_costs_do_not_depend_on_time() -> None:
    calls: Counter[str] = Counter()
    engine = Engine(EngineOptions(costs="modelled"))
    engine.sql(DDL)
    slow = busy("slow", 150, lambda x: x > 5, calls)
    engine.function("slow", slow, args=["BIGINT"], returns="BOOLEAN")
    engine.query("SELECT x FROM s WHERE slow(x)", name="q")
    for at in range(8):
        engine.process(second(at))
    found = engine.verdict
    assert found is not None
    assert found.needed < 0.001
