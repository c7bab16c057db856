"""Random joins of many streams with feedback: nothing is lost, nothing is made twice.

The number of cases is set by the Hypothesis profile (``tests/conftest.py``);
``EDDYLINE_HYPOTHESIS_PROFILE=long`` tries thousands.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final
from unittest.mock import patch

import pyarrow as pa
from hypothesis import event, given, settings
from hypothesis import strategies as st

from eddyline.bench.comparison.reactive import REACTIVE
from eddyline.runtime.feedback.sweeps import Sweeps
from eddyline.runtime.feedback.trial import Trial
from eddyline.testing import pretty
from eddyline.testing.strategies.join_trees import join_tree_case
from thinned import fewer

SEEDS: Final = st.integers(0, 1 << 32)
OPTIONS: Final[st.SearchStrategy[dict[str, Any]]] = st.fixed_dictionaries(
    {
        "executor": st.sampled_from(["tree", "tree", "eddy"]),
        "feedback": st.sampled_from(["jit", "jit", "doe", "auto"]),
        "feedback_form": st.sampled_from([None, None, REACTIVE]),
        "nested_loops": st.booleans(),
        "combinations": st.booleans(),
        "mns": st.sampled_from(["index", "index", "bloom"]),
        "chunk_rows": st.sampled_from([1, 3, 16, 16_384]),
        "keep": st.sampled_from([{}, {}, {"s0": 0.6}, {"s0": 0.8, "s1": 0.7, "s2": 0.5}]),
    }
)


@settings(max_examples=fewer(2))
@given(SEEDS, OPTIONS)
def test_the_answer_is_right_at_every_instant(seed: int, options: dict[str, Any]) -> None:
    join_tree_case(seed, most_streams=5).play(**options).finish()


@given(SEEDS, OPTIONS, st.booleans())
def test_feedback_passes_distinct(seed: int, options: dict[str, Any], optimize: bool) -> None:
    case = join_tree_case(seed, most_streams=5, distinct=True)
    case.play(**options, optimize=optimize).finish()


@given(SEEDS, OPTIONS, st.booleans())
def test_feedback_over_windows_of_rows(seed: int, options: dict[str, Any], sweep: bool) -> None:
    luck = Random(seed)
    case = join_tree_case(seed, most_streams=5, counted=True)
    expected = case.play(feedback="off", keep=options["keep"]).changes()
    event("with results" if expected.num_rows else "without results")
    with patch.object(Sweeps, "count", lambda *_: sweep and luck.random() < 0.5):
        script = case.play(**options)
    assert pretty(in_order(script.changes())) == pretty(in_order(expected))
    script.finish()


@settings(max_examples=fewer(2))
@given(SEEDS, OPTIONS)
def test_all_that_is_made_without_feedback_is_made_with_it(
    seed: int, options: dict[str, Any]
) -> None:
    case = join_tree_case(seed)
    expected = case.play(feedback="off", keep=options["keep"]).changes()
    found = case.play(**options).changes()
    event("with results" if expected.num_rows else "without results")
    assert pretty(in_order(found)) == pretty(in_order(expected))


@settings(max_examples=fewer(2))
@given(SEEDS, OPTIONS)
def test_feedback_can_end_and_begin_at_any_time(seed: int, options: dict[str, Any]) -> None:
    luck = Random(seed)

    def let_pass(trial: Trial, rows: int) -> bool:
        trial.asleep = luck.random() < 0.7
        return not trial.asleep

    stops = patch.object(
        Trial, "spares_nothing", lambda trial: trial.asked > 0 and luck.random() < 0.2
    )
    with stops, patch.object(Trial, "let_pass", let_pass):
        join_tree_case(seed, most_streams=5).play(**{**options, "feedback": "auto"}).finish()


@settings(max_examples=fewer(2))
@given(SEEDS, OPTIONS)
def test_rows_can_be_suspended_again_at_any_time(seed: int, options: dict[str, Any]) -> None:
    luck = Random(seed)
    case = join_tree_case(seed, most_streams=5)
    expected = case.play(feedback="off", keep=options["keep"]).changes()
    with patch.object(Sweeps, "count", lambda *_: luck.random() < 0.5):
        script = case.play(**options)
    assert pretty(in_order(script.changes())) == pretty(in_order(expected))
    script.finish()


def in_order(changes: pa.Table) -> pa.Table:
    """Changes of one instant in the order of their values; of instants it stays as it is."""
    instants = changes["_ts"].to_pylist()
    assert instants == sorted(instants), "results leave in temporal order"
    return changes.sort_by([(name, "ascending") for name in ["_ts", *changes.column_names]])
