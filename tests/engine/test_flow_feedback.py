"""Feedback in flows: who lacks a row of another stream is not found, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from eddyline import Engine
from eddyline.runtime.eddy.flow import Flow
from eddyline.testing.feeding import process_all
from feedback_cases import fan_out, keyed, waiting


def test_who_waits_is_not_found() -> None:
    """A hundred rows of b for each of a, of which one in twenty has one of c."""
    found = {feedback: rows_found(feedback) for feedback in ("off", "jit", "auto")}
    assert found["off"] >= 5 * found["jit"] > 0
    assert found["auto"] == found["jit"]


def rows_found(feedback: str) -> int:
    """What all probes of a flow find, whatever the order in which the streams are probed."""
    engine = fan_out(feedback, executor="eddy", policy="random")
    results = 0
    for first in range(0, 2_000, 100):
        batch = {"a": keyed(range(first, first + 100)), "b": keyed([0] * 5), "c": keyed([])}
        batch["c"] = keyed(range(first, first + 100, 20))
        results += engine.process(batch)["q"].num_rows
    assert results == 100 * 100  # each row of a with a partner, by each of b
    probes = flow_of(engine).fan_outs.values()
    return sum(went for _, went in probes)


def test_a_row_is_found_as_soon_as_there_is_all_that_it_lacks() -> None:
    engine = fan_out("jit", executor="eddy")
    process_all(engine, {"a": keyed(range(100)), "b": keyed([0] * 20)})
    assert waiting(engine) == {"refused": 100, "resumed": 0, "waiting": 100}
    out = process_all(engine, {"c": keyed([7, 8, 9, 500])})
    assert out["q"].num_rows == 60
    assert waiting(engine) == {"refused": 100, "resumed": 3, "waiting": 97}
    assert process_all(engine, {"b": keyed([0])})["q"].num_rows == 3
    text = engine.queries["q"].explain(analyze=True)
    assert "feedback: rows of" in text
    assert "b, c" in text


def test_the_order_of_a_chunk_is_kept() -> None:
    """c comes when b has probed: a waits no more, but b is joined by c alone, and once."""
    engine = fan_out("jit", executor="eddy")
    engine.process({"a": keyed([7])})
    out = engine.process({"b": keyed([0]), "c": keyed([7])})
    assert out["q"].num_rows == 1
    assert engine.process({"b": keyed([0, 0])})["q"].num_rows == 2


def test_doe_waits_for_any_row() -> None:
    engine = fan_out("doe", executor="eddy")
    process_all(engine, {"a": keyed(range(100)), "b": keyed([0] * 20)})
    assert waiting(engine) == {"refused": 100, "resumed": 0, "waiting": 100}
    assert process_all(engine, {"c": keyed([7])})["q"].num_rows == 20
    assert waiting(engine) == {"refused": 100, "resumed": 100, "waiting": 0}


@pytest.mark.parametrize("executor", ["eddy", "tree"])
def test_rows_return_to_the_gate_when_their_last_match_has_gone(executor: str) -> None:
    """Rows of a live for an hour, those of c for a second: each is needed for a second."""
    engine = fan_out("jit", executor=executor, optimize=False)
    engine.drop("q")
    query = (
        "SELECT a.k FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR], c [RANGE 1 SECOND] "
        "WHERE a.g = b.g AND a.k = c.k"
    )
    engine.query(query, name="q")
    second = 1_000_000
    process_all(engine, {"b": keyed([0])})
    for number in range(12):
        keys = range(number * 500, number * 500 + 500)
        ts = 2 * number * second
        process_all(engine, {"a": keyed(keys, ts), "c": keyed(keys, ts)})
    found = waiting(engine)
    assert found["waiting"] >= 4_000
    assert process_all(engine, {"b": keyed([0], 24 * second)})["q"].num_rows == 0
    out = process_all(engine, {"c": keyed([3, 5_999], 25 * second)})
    assert sorted(out["q"]["k"].to_pylist()) == [3, 3, 5_999, 5_999]
    assert 1 <= waiting(engine)["resumed"] - found["resumed"] <= 2
    assert process_all(engine, {"b": keyed([0], 25 * second)})["q"].num_rows == 2


def test_a_query_with_longer_windows_is_about_rows_that_wait() -> None:
    """c has expired for the first query, not for the second; a was let wait in between."""
    engine = fan_out("jit", executor="eddy")
    keeper = "SELECT {0}.k FROM {0} [RANGE 3 HOURS], {0} [RANGE 3 HOURS] AS o WHERE {0}.k = o.k"
    for name in "abc":
        engine.query(keeper.format(name), name=f"keeper_{name}")
    hours = 3_600_000_000
    process_all(engine, {"c": keyed([7])})
    process_all(engine, {"a": keyed([7], ts=hours + 1)})
    assert waiting(engine) == {"refused": 1, "resumed": 0, "waiting": 1}
    streams = ", ".join(f"{name} [RANGE 3 HOURS]" for name in "abc")
    longer = f"SELECT a.k FROM {streams} WHERE a.g = b.g AND a.k = c.k"
    query = engine.query(longer, name="longer")
    out = process_all(engine, {"b": keyed([0], ts=hours + 2)})
    assert out["longer"].num_rows == 1
    assert query.snapshot().num_rows == 1
    assert waiting(engine)["waiting"] == 0


def test_what_waits_in_a_flow_waits_when_it_has_been_loaded(tmp_path: Path) -> None:
    engine = fan_out("jit", executor="eddy")
    engine.process({"a": keyed(range(100)), "b": keyed([0] * 20), "c": keyed([1, 2])})
    engine.save(tmp_path / "saved")
    engine = Engine.load(tmp_path / "saved")
    assert engine.process({"b": keyed([0])})["q"].num_rows == 2
    assert waiting(engine)["waiting"] == 98
    assert engine.process({"c": keyed([3])})["q"].num_rows == 21


def flow_of(engine: Engine) -> Flow:
    flows = [o for o in engine.parts.queries.operators() if isinstance(o, Flow)]
    return flows[0]
