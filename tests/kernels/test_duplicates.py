"""Duplicate elimination: who is shown, and who takes over."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.kernels.distinct import EXPIRY, ArrivingValues, ShownValues, eliminate

NEVER = -(1 << 62)


class Answer:
    """The state of two values."""

    def __init__(self) -> None:
        self.shown, self.aside, self.aside_order = (np.full(2, NEVER, np.int64) for _ in range(3))

    def run(
        self, rows: list[tuple[int, int, int, int]], clock: int
    ) -> list[tuple[int, int, int, int, int]]:
        """Rows are (slot, ts, seq, exp); the result also has the number of the row shown."""
        lanes = (np.array([r[i] for r in rows], np.int64) for i in range(4))
        slot, ts, seq, exp = lanes
        due = np.arange(2)  # a row is numbered by its seq here
        state = ShownValues(self.shown, self.aside, self.aside_order)
        out = eliminate(ArrivingValues(slot, ts, seq, exp, seq), due, clock, state)
        return list(zip(*(o.tolist() for o in out), strict=True))


def test_the_duplicate_that_expires_last_takes_over_although_another_arrived_last() -> None:
    answer = Answer()
    rows = [(0, 1, 1, 10), (0, 2, 3, 30), (0, 3, 5, 20)]
    assert answer.run(rows, 3) == [(0, 1, 1, 10, 1)]
    assert answer.run([], 10) == [(0, 10, EXPIRY, 30, 3)]
    assert answer.run([], 30) == []


def test_a_duplicate_that_expires_first_is_forgotten() -> None:
    answer = Answer()
    assert answer.run([(0, 1, 1, 10), (0, 2, 3, 5)], 2) == [(0, 1, 1, 10, 1)]
    assert answer.run([(0, 11, 5, 12)], 11) == [(0, 11, 5, 12, 5)]


def test_a_row_at_the_instant_of_the_expiry_comes_after_it() -> None:
    answer = Answer()
    answer.run([(0, 1, 1, 10)], 1)
    assert answer.run([(0, 10, 3, 15)], 10) == [(0, 10, 3, 15, 3)]
    answer.run([(0, 11, 5, 30)], 11)
    assert answer.run([(0, 15, 7, 40)], 15) == [(0, 15, EXPIRY, 30, 5)]


def test_two_take_overs_within_one_chunk() -> None:
    rows = [(0, 1, 1, 3), (0, 2, 3, 5), (0, 4, 5, 9), (0, 6, 7, 7)]
    assert Answer().run(rows, 6) == [
        (0, 1, 1, 3, 1), (0, 3, EXPIRY, 5, 3), (0, 5, EXPIRY, 9, 5),
    ]  # fmt: skip


row = st.tuples(st.integers(0, 1), st.integers(0, 12), st.integers(1, 8))


@settings(max_examples=80, derandomize=True)
@given(rows=st.lists(row, max_size=12), cut=st.integers(0, 12))
def test_a_value_is_shown_exactly_while_one_of_its_rows_is_alive(
    rows: list[tuple[int, int, int]], cut: int
) -> None:
    came = sorted(rows, key=lambda r: r[1])
    numbered = [(s, ts, 2 * i + 1, ts + life) for i, (s, ts, life) in enumerate(came)]
    cut = min(cut, len(numbered))
    answer, out = Answer(), []
    for part in (numbered[:cut], numbered[cut:]):
        out += answer.run(part, part[-1][1] if part else NEVER)
    out += answer.run([], 100)
    for tau in range(25):
        for slot in (0, 1):
            alive = any(r[0] == slot and r[1] <= tau < r[3] for r in numbered)
            shown = sum(o[0] == slot and o[1] <= tau < o[3] for o in out)
            assert shown == alive, (tau, slot, numbered, out)
