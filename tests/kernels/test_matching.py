"""Bag negation and EXISTS against their definitions, event by event."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.kernels import matching
from eddyline.kernels.matching import (
    ANTI,
    KEY_LISTS,
    LEFT_EXPIRED,
    LEFT_IN,
    LEFT_OUT,
    LEFT_ROW,
    NEGATION,
    RIGHT_IN,
    RIGHT_OUT,
    SEMI,
    Events,
)

KEYS, ROWS = 2, 8


class State:
    """The kernel's arrays for a few rows and keys."""

    def __init__(self) -> None:
        self.rows = np.zeros(ROWS, LEFT_ROW)
        for name in ("key_of", "exp", "older", "younger", "last"):
            self.rows[name] = -1
        self.slots = np.zeros(KEYS, KEY_LISTS)
        for name in ("oldest", "youngest", "edge"):
            self.slots[name] = -1

    def run(self, rule: int, events: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int]]:
        kind, slot, row, ts = (np.array(lane, np.int64) for lane in zip(*events, strict=True))
        instants = np.stack((ts, np.zeros(ts.size, np.int64)))
        row_out, sign, event, gone = matching.match(
            rule, Events(kind.astype(np.int8), slot, row, instants), self.rows, self.slots
        )
        assert (self.rows["last"] == -1).all()
        assert set(gone) <= {e[2] for e in events}
        return list(zip(row_out.tolist(), sign.tolist(), event.tolist(), strict=True))


class Model:
    """Equation 1 and EXISTS, told again: the alive left rows by age, and right counts."""

    def __init__(self) -> None:
        self.left: list[tuple[int, int]] = []  # (row, key), oldest first
        self.right = [0] * KEYS

    def answer(self, rule: int) -> set[int]:
        out: set[int] = set()
        for key in range(KEYS):
            mine = [r for r, k in self.left if k == key]
            if rule == NEGATION:
                out |= set(mine[len(mine) - max(len(mine) - self.right[key], 0) :])
            elif (self.right[key] > 0) == (rule == SEMI):
                out |= set(mine)
        return out


choice = st.tuples(st.integers(0, 9), st.integers(0, KEYS - 1), st.integers(0, 9))


@pytest.mark.parametrize("rule", [NEGATION, SEMI, ANTI])
@settings(max_examples=150, derandomize=True)
@given(choices=st.lists(choice, max_size=40), chunk=st.integers(1, 12))
def test_the_shown_rows_are_the_answer(
    rule: int, choices: list[tuple[int, int, int]], chunk: int
) -> None:
    model, state, shown = Model(), State(), set[int]()
    events: list[tuple[int, int, int, int]] = []

    def flush() -> None:
        changes = state.run(rule, events) if events else []
        for number, (kind, _, row, _) in enumerate(events):
            if kind == LEFT_EXPIRED:
                shown.discard(row)  # without a word
            for changed, sign, _ in (c for c in changes if c[2] == number):
                assert (changed in shown) == (sign < 0), "every '-' takes back what is shown"
                (shown.discard if sign < 0 else shown.add)(changed)
        events.clear()
        assert shown == model.answer(rule)

    free = list(range(ROWS))
    for number, (what, key, pick) in enumerate(choices):
        ts = number // 2
        if what < 4 and free:
            row = free.pop(0)
            model.left.append((row, key))
            events.append((LEFT_IN, key, row, ts))
        elif what < 6 and model.left:
            row, own = model.left.pop(pick % len(model.left))
            state.rows["exp"][row] = ts
            events.append((LEFT_OUT, own, row, ts) if what == 4 else (LEFT_EXPIRED, -1, row, ts))
        elif what < 8:
            model.right[key] += 1
            events.append((RIGHT_IN, key, -1, ts))
        elif model.right[key]:
            model.right[key] -= 1
            events.append((RIGHT_OUT, key, -1, ts))
        if len(events) >= chunk:
            flush()
    flush()


def test_changes_undone_within_an_instant_are_not_reported() -> None:
    state = State()
    state.run(NEGATION, [(LEFT_IN, 0, 0, 1), (LEFT_IN, 0, 1, 1), (RIGHT_IN, 0, -1, 2)])
    state.rows["exp"][0] = 9
    at_once = [(LEFT_EXPIRED, -1, 0, 9), (RIGHT_OUT, 0, -1, 9)]
    assert state.run(NEGATION, at_once) == []


def test_an_expiry_of_a_row_that_came_again_is_ignored() -> None:
    state = State()
    state.run(ANTI, [(LEFT_IN, 0, 0, 1), (LEFT_OUT, 0, 0, 2), (LEFT_IN, 1, 0, 3)])
    state.rows["exp"][0] = 12
    assert state.run(ANTI, [(LEFT_EXPIRED, -1, 0, 11), (RIGHT_IN, 1, -1, 11)]) == [(0, -1, 1)]
