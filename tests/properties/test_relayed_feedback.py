"""Feedback that passes groups, outer joins and EXISTS: the answers stay right at every instant."""

from __future__ import annotations

from random import Random
from typing import Any, Final
from unittest.mock import patch

import pyarrow as pa
from hypothesis import event, given
from hypothesis import strategies as st

from eddyline.runtime.feedback.sweeps import Sweeps
from eddyline.runtime.feedback.trial import Trial
from eddyline.testing import pretty
from eddyline.testing.strategies.relayed_feedback import relayed_case

SEEDS: Final = st.integers(0, 1 << 32)
OPTIONS: Final[st.SearchStrategy[dict[str, Any]]] = st.fixed_dictionaries(
    {
        "feedback": st.sampled_from(["jit", "jit", "auto"]),
        "state": st.sampled_from(["upa", "upa", "direct", "negative-tuple"]),
        "nested_loops": st.booleans(),
        "mns": st.sampled_from(["index", "index", "bloom"]),
        "chunk_rows": st.sampled_from([1, 3, 16, 16_384]),
        "keep": st.sampled_from([{}, {}, {"s0": 0.6}, {"s0": 0.8, "s1": 0.7, "s2": 0.5}]),
        "optimize": st.booleans(),
    }
)


@given(SEEDS, OPTIONS)
def test_the_answer_is_right_at_every_instant(seed: int, options: dict[str, Any]) -> None:
    script = relayed_case(seed).play(**options)
    suspended = sum(
        gate["refused"]
        for operator in script.engine.stats()["operators"]
        for gate in operator.get("feedback", [])
    )
    event("rows were suspended" if suspended else "no row was suspended")
    script.finish()


@given(SEEDS, OPTIONS)
def test_all_that_is_made_without_feedback_is_made_with_it(
    seed: int, options: dict[str, Any]
) -> None:
    luck, case = Random(seed), relayed_case(seed)
    options = {**options, "chunk_rows": 16_384}  # a '-' and a '+' in one chunk may cancel
    expected = case.play(**options | {"feedback": "off"}).changes()
    with patch.object(Sweeps, "count", lambda *_: luck.random() < 0.5):
        found = case.play(**options).changes()
    event("with results" if expected.num_rows else "without results")
    assert pretty(in_order(found)) == pretty(in_order(expected))


@given(SEEDS, OPTIONS)
def test_feedback_can_end_and_begin_at_any_time(seed: int, options: dict[str, Any]) -> None:
    luck = Random(seed)

    def let_pass(trial: Trial, rows: int) -> bool:
        trial.asleep = luck.random() < 0.7
        return not trial.asleep

    stops = patch.object(
        Trial, "spares_nothing", lambda trial: trial.asked > 0 and luck.random() < 0.2
    )
    sweeps = patch.object(Sweeps, "count", lambda *_: luck.random() < 0.3)
    with stops, sweeps, patch.object(Trial, "let_pass", let_pass):
        relayed_case(seed).play(**{**options, "feedback": "auto"}).finish()


def in_order(changes: pa.Table) -> pa.Table:
    """Changes of one instant in the order of their values."""
    instants = changes["_ts"].to_pylist()
    assert instants == sorted(instants), "results leave in temporal order"
    return changes.sort_by([(name, "ascending") for name in ["_ts", *changes.column_names]])
