"""Stores of materialised answers: every row that is alive is there, and memory is given back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.runtime.stores.answers import (
    AnswerCalendar,
    AnswerList,
    AnswerQueue,
    AnswerStore,
    LazyAnswerList,
    refill,
    saved,
)
from eddyline.runtime.stores.columns import Array

LIFESPAN = 101


def make(kind: str) -> AnswerStore:
    if kind == "queue":
        return AnswerQueue(2)
    if kind == "lazy list":
        return LazyAnswerList(2)
    return AnswerList(2) if kind == "list" else AnswerCalendar(2, 9, LIFESPAN)


step = st.tuples(
    st.sampled_from(["push", "push", "drop", "save"]), st.lists(st.integers(0, 60), max_size=6)
)


@pytest.mark.parametrize("kind", ["queue", "calendar", "list", "lazy list"])
@settings(max_examples=50, derandomize=True)
@given(steps=st.lists(step, max_size=14))
def test_every_row_alive_is_there(kind: str, steps: list[tuple[str, list[int]]]) -> None:
    store, model, clock, newest, came = make(kind), list[tuple[int, int]](), 0, 0, 0
    for action, numbers in steps:
        if action == "push":
            exps = [clock + n for n in numbers]  # one of 0 has expired already
            if kind == "queue":
                exps = sorted(max(e, newest) for e in exps)
                newest = exps[-1] if exps else newest
            rows = [(e, came + i) for i, e in enumerate(exps)]
            came += len(rows)
            store.push([np.array([r[i] for r in rows], np.int64) for i in (0, 1)], clock)
            model += rows
        elif action == "drop":
            clock += sum(numbers)
            store.push([np.zeros(0, np.int64)] * 2, clock)
        else:
            copy = make(kind)
            refill(copy, saved(store), 2, clock)
            store = copy
        found = list(zip(*(lane.tolist() for lane in store.rows()), strict=True))
        assert len(found) == len(store)
        assert sorted(r for r in found if r[0] > clock) == sorted(r for r in model if r[0] > clock)
        assert set(found) <= set(model)


@pytest.mark.parametrize("kind", ["queue", "calendar", "list"])
def test_expired_rows_go(kind: str) -> None:
    store = make(kind)
    for clock in range(0, 20_000, 20):
        exp = np.arange(clock + 1, clock + 21) + 80
        store.push([exp, exp], clock)
        assert len(store) <= 100 + 2 * 20 + 12


def test_a_lazy_list_is_at_most_twice_as_long_as_what_is_left() -> None:
    store = LazyAnswerList(2)
    for clock in range(0, 200_000, 20):
        exp = np.arange(clock + 1, clock + 21) + 4_980
        store.push([exp, exp], clock)
        assert len(store) <= 2 * 5_000 + 1_024 + 20
    assert len(store) >= 5_000


def test_a_lazy_list_leaves_out_what_was_taken_back() -> None:
    def left(lanes: Array) -> Array:
        return np.flatnonzero(lanes[1] >= 0)

    store = LazyAnswerList(2, left)
    store.push([np.array([9, 9, 9]), np.array([1, -1, 2])], 0)
    assert [lane.tolist() for lane in store.rows()] == [[9, 9], [1, 2]]
    assert len(store) == 2
