"""Random sets of trees that share their lower joins: no row waits that any of them wants."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import event, given
from hypothesis import strategies as st

from eddyline.bench.comparison.reactive import REACTIVE
from eddyline.testing.strategies.tree_sets import tree_set_case

OPTIONS: Final[st.SearchStrategy[dict[str, Any]]] = st.fixed_dictionaries(
    {
        "feedback": st.sampled_from(["jit", "jit", "doe", "auto"]),
        "feedback_form": st.sampled_from([None, None, None, REACTIVE]),
        "nested_loops": st.booleans(),
        "combinations": st.booleans(),
        "mns": st.sampled_from(["index", "index", "bloom"]),
        "chunk_rows": st.sampled_from([1, 3, 16, 16_384]),
    }
)


@given(st.integers(0, 1 << 32), OPTIONS)
def test_trees_that_share_joins_report_what_each_does_without_feedback(
    seed: int, options: dict[str, Any]
) -> None:
    case = tree_set_case(seed)
    expected = case.play(feedback="off")
    event("with results" if any("+" in text for text in expected.values()) else "without results")
    assert case.play(**options) == expected
