"""What takes over when the row that shows a value expires."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.distinct import ShownValues, recall

NONE = -(1 << 62)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_only_values_that_are_due_are_recalled() -> None:
    state = ShownValues(ints(10, 10, 30), ints(99, 99, 99), ints(5, 5, 5))
    exp, order, slot = ints(10, 40, 40, 20, 35), ints(0, 1, 2, 3, 4), ints(0, 0, 0, 1, 2)
    recall(exp, order, slot, ints(0), state)
    assert state.aside_exp.tolist() == [40, 99, 99]  # the others are as they were
    assert state.aside_order.tolist() == [1, 5, 5]  # the first of those that expire last


def test_rows_that_do_not_outlive_the_shown_one_are_not_set_aside() -> None:
    state = ShownValues(ints(10, 50), ints(99, 99), ints(5, 5))
    recall(ints(9, 10, 50), ints(0, 1, 2), ints(0, 0, 1), ints(0, 1), state)
    assert state.aside_exp.tolist() == [NONE, NONE]
