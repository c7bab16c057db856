"""Results of windows of rows that have left do not come back with a checkpoint."""

from __future__ import annotations

from eddyline.testing.strategies.join_trees import join_tree_case


def test_results_that_left_between_two_checkpoints_have_left_after_the_second() -> None:
    """A result is saved, leaves, and is not saved again: its death is."""
    case = join_tree_case(1368, most_streams=5, counted=True)
    assert case.restart == {1, 2, 8}
    expected = case.play(feedback="off").changes()
    assert case.play(feedback="jit", chunk_rows=1).changes().num_rows == expected.num_rows
