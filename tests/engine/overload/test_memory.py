"""Engines whose state has a limit: what they predict, measure, say and drop."""

from __future__ import annotations

import io
from math import inf

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine, EngineOptions
from eddyline.engine.overload.intake_times import IntakeTimes
from eddyline.optimizer.byte_sizes import bytes_text
from eddyline.optimizer.prices import TYPICAL
from eddyline.optimizer.thinned import thinned
from eddyline.optimizer.work import cores_of, state_of
from eddyline.testing import engine_with

DDL = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, v DOUBLE) TIMESTAMP BY ts {a};
    CREATE STREAM b (ts TIMESTAMP, k BIGINT, v DOUBLE) TIMESTAMP BY ts {b};
"""
DECLARED = DDL.format(a="WITH (rate = 1000)", b="WITH (rate = 1000)")
UNKNOWN = DDL.format(a="", b="")
JOIN = (
    "SELECT a.k FROM a [RANGE 100 SECONDS], b [RANGE 20 SECONDS] "
    "WHERE a.k = b.k AND a.v < b.v ON OVERLOAD SHED"
)
RATE = 1000


def engine(ddl: str, memory: str | None, **options: object) -> Engine:
    made = engine_with(
        **{"prices": TYPICAL, "capacity": 1e6, "costs": "measured", "memory": memory, **options}
    )
    made.sql(ddl)
    return made


def second(at: int, rate: int = RATE) -> dict[str, pa.Table]:
    found = {}
    for number, name in enumerate("ab"):
        rng = np.random.default_rng([at, number])
        ts = np.sort(rng.integers(0, 1_000_000, rate)) + at * 1_000_000
        found[name] = pa.table({"ts": ts, "k": rng.integers(0, 10**6, rate), "v": rng.random(rate)})
    return found


def kept(of: Engine) -> dict[str, float]:
    return {s: told["keep"] for s, told in of.shedding.items() if told["keep"] < 1}


def test_state_above_the_limit_is_predicted_from_declared_rates() -> None:
    eng = engine(DECLARED, "3 MB")
    query = eng.query(JOIN, name="q")
    verdict = eng.verdict
    assert verdict is not None
    assert verdict.needed < verdict.capacity, "there is CPU enough"
    assert not verdict.feasible
    assert verdict.state > 3e6 >= verdict.stored > 2.9e6
    text = verdict.text()
    assert f"and {bytes_text(verdict.state)} of 3 MB of state; feasible with " in text
    assert f"all queries: {text}" in query.explain()
    eng.process(second(0))
    assert kept(eng) == verdict.keep
    assert 0 < verdict.keep["a"] < 1, "the stream with the long window"


def test_without_on_overload_shed_there_is_advice_and_nothing_is_dropped() -> None:
    eng = engine(DECLARED, "3 MB")
    eng.query(JOIN.removesuffix(" ON OVERLOAD SHED"), name="q")
    eng.process(second(0))
    assert kept(eng) == {}
    advice = eng.advice
    assert advice is not None
    assert "of 3 MB of state; feasible with " in advice
    assert advice.endswith("no rows are dropped without ON OVERLOAD SHED in q")
    assert "of 3 MB of state" in eng.explain(JOIN)


def test_without_a_limit_the_state_is_said_but_nothing_is_dropped() -> None:
    eng = engine(DECLARED, None)
    eng.query(JOIN, name="q")
    eng.process(second(0))
    verdict = eng.verdict
    assert verdict is not None
    assert verdict.feasible
    assert verdict.memory == inf
    assert "state" not in verdict.text()
    memory = eng.stats()["memory"]
    assert memory["had"] is None
    assert memory["needed"] > 3e6
    assert memory["used"] > 0
    assert next(iter(memory["largest"])) == "rows of a"


@pytest.mark.parametrize("executor", ["tree", "eddy"])
def test_measured_state_stays_below_the_limit(executor: str) -> None:
    """Rates are not declared. Windows fill long after the first decision, and buffers have more
    room than rows.
    """
    everything = engine(UNKNOWN, None, executor=executor)
    limited = engine(UNKNOWN, "6 MB", executor=executor, decide_every="10 seconds")
    for eng in (everything, limited):
        eng.query(JOIN, name="q")
    most = 0
    for at in range(240):
        everything.process(second(at))
        limited.process(second(at))
        most = max(most, limited.stats()["memory"]["used"]) if at > 120 else most
    needed = everything.stats()["memory"]["used"]
    memory = limited.stats()["memory"]
    assert needed > 7.8e6
    assert 5e6 < most < 6.6e6, "6 MB, and rates and sizes measured late"
    assert memory["needed"] == pytest.approx(needed, rel=0.1)
    assert kept(limited)


@pytest.mark.parametrize("busy", [False, True])
def test_long_texts_are_seen(busy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where what a row costs before the operators changes all the time."""
    if busy:
        monkeypatch.setattr(IntakeTimes, "look", lambda *_: True)
    ddl = "CREATE STREAM a (ts TIMESTAMP, k BIGINT, t STRING) TIMESTAMP BY ts"
    eng = engine(ddl, "1 GB")
    eng.query("SELECT k, t FROM a [RANGE 1 HOUR] ON OVERLOAD SHED", name="q")
    for at in range(60):
        rows = second(at)["a"].drop_columns("v").append_column("t", pa.array(["x" * 1000] * RATE))
        eng.process({"a": rows})
    verdict = eng.verdict
    assert verdict is not None
    assert verdict.state == pytest.approx(3.6e9 * 1.02, rel=0.1), "an hour of texts of 1 kB"
    assert verdict.keep


def test_rows_windows_need_what_they_need() -> None:
    """Dropping does not help; nothing is dropped for it."""
    eng = engine(DECLARED, "1 MB")
    eng.query("SELECT k FROM a [ROWS 100000] ON OVERLOAD SHED", name="q")
    eng.query("SELECT k FROM b [RANGE 1 SECOND] ON OVERLOAD SHED", name="r")
    verdict = eng.verdict
    assert verdict is not None
    assert not verdict.feasible
    assert "a" not in verdict.keep


def test_both_limits_are_kept_and_the_output_is_the_best() -> None:
    """Against all settings of a grid."""
    eng = engine(DECLARED, None)
    eng.query(JOIN, name="q")
    free = eng.verdict
    assert free is not None
    memory = eng.stats()["memory"]["needed"]
    tight = engine(DECLARED, f"{0.6 * memory:.0f} B", capacity=0.6 * free.needed)
    tight.query(JOIN, name="q")
    found = tight.verdict
    assert found is not None
    assert found.fits()
    best = 0.0
    for a in np.linspace(0.05, 1, 39):
        for b in np.linspace(0.05, 1, 39):
            eng.shed({"a": a, "b": b})
            needs = _needs(eng, {"a": a, "b": b})
            if needs[0] <= found.capacity and needs[1] <= found.memory:
                best = max(best, a * b)
    assert found.outputs["q"] >= best - 1e-3


def _needs(eng: Engine, keep: dict[str, float]) -> tuple[float, float]:
    known = thinned(eng.statistics, keep)
    works = eng.parts.queries.workload.works()
    cores = cores_of(works, known, TYPICAL)
    return cores, sum(state_of(works, known).by_stem({}).values())


def test_sizes_and_limits_are_kept_in_checkpoints() -> None:
    eng = engine(UNKNOWN, "3 MB", decide_every="5 seconds", costs="modelled")
    eng.query(JOIN, name="q")
    for at in range(20):
        eng.process(second(at))
    saved = io.BytesIO()
    eng.save(saved)
    saved.seek(0)
    again = Engine.load(saved)
    assert again.options.memory == "3 MB"
    assert again.verdict == eng.verdict
    assert kept(again) == kept(eng) != {}
    for at in range(20, 30):
        assert eng.process(second(at))["q"] == again.process(second(at))["q"]


def test_set_and_wrong_texts() -> None:
    eng = Engine()
    eng.sql("SET memory = '512 MiB'")
    assert eng.options.memory_bytes == 512 << 20
    eng.sql("SET memory = NULL")
    assert eng.options.memory_bytes is None
    for text in ("4", "much", "-1 GB", "0 GB", "4 QB"):
        with pytest.raises(ValueError, match="memory"):
            EngineOptions(memory=text)
