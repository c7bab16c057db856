"""Trials of feedback: they end and begin without a loss, and by what probing costs."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa

from eddyline import Engine
from eddyline.runtime.feedback.trial import Trial
from eddyline.runtime.join_inputs.gated_rows import GatedRows
from eddyline.testing import engine_with
from eddyline.testing.feeding import process_all
from eddyline.types import TIMESTAMP


def test_a_probe_that_begins_in_a_chunk_finds_rows_that_expire_in_it() -> None:
    """A row of b is joined with one of c that expires before the chunk ends."""
    engine = chain("RANGE 4 SECONDS")
    process_all(engine, {"a": rows([0]), "c": rows([0]), "d": rows([0, 2])})
    probes_of_c, *others = queues(engine, "b")
    assert others, "another probe goes on"
    with patch.object(Trial, "spares_nothing", lambda trial: trial is probes_of_c):
        engine.process({"a": rows([2.5])}, watermark=2_500_000)
    assert probes_of_c.asleep
    with patch.object(Trial, "let_pass", wake):
        found = engine.process({"b": rows([3.9]), "a": rows([6])}, watermark=6_000_000)["q"]
    assert not probes_of_c.asleep
    assert found.num_rows == 4  # two rows of a, two of d


def wake(trial: Trial, rows: int) -> bool:
    trial.asleep = False
    return True


def queues(engine: Engine, stream: str) -> list[Trial]:
    """The trials of the gate of a stream."""
    for operator in engine.parts.queries.operators():
        if isinstance(operator, GatedRows) and operator.gate.stats()["rows_of"] == stream:
            return [q.trial for c in operator.gate._consumers.values() for q in c.queues]
    raise AssertionError(stream)


def chain(window: str, feedback: str = "auto") -> Engine:
    engine = engine_with(executor="tree", feedback=feedback, optimize=False)
    for name in "abcd":
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, l BIGINT) TIMESTAMP BY ts")
    read = ", ".join(f"{name} [{window}]" for name in "abcd")
    engine.query(f"SELECT a.k FROM {read} WHERE a.l = b.k AND b.l = c.k AND c.l = d.k", name="q")
    return engine


def rows(seconds: list[float], values: list[int] | None = None) -> pa.Table:
    ts = pa.array([int(s * 1e6) for s in seconds], TIMESTAMP)
    keys = pa.array([0] * len(seconds) if values is None else values, pa.int64())
    return pa.table({"ts": ts, "k": keys, "l": keys})


def test_few_pairs_are_made_rather_than_probed_for() -> None:
    """No row is needed, but hardly any has a partner."""
    assert queues(fed(values=100_000), "b")[0].asleep


def test_many_pairs_are_not_made() -> None:
    assert not queues(fed(values=10), "b")[0].asleep


def fed(values: int) -> Engine:
    """Rows of which none has a match in c."""
    engine = chain("RANGE 1 SECOND")
    random = np.random.default_rng(1)
    for second in range(8):
        ts = [second + i / 1_000 for i in range(1_000)]
        keys = {name: random.integers(0, values, 1_000) for name in "abcd"}
        keys["c"] += values
        process_all(engine, {name: rows(ts, k.tolist()) for name, k in keys.items()})
    return engine
