"""Expiry stores against a sorted list."""

from __future__ import annotations

import gc
import sys
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.runtime.stores.expiry import (
    ExpiryStore,
    FifoStore,
    ListStore,
    PartitionedStore,
    uncancelled,
)

DTYPES = [np.int64, np.int64, np.float64]


def make(fifo: bool, width: int) -> ExpiryStore:
    """A queue, partitions of a width, or (0) a list."""
    if fifo:
        return FifoStore(DTYPES)
    return PartitionedStore(DTYPES, width) if width else ListStore(DTYPES)


def rows_of(lanes: list[np.ndarray]) -> list[tuple[float, ...]]:
    return list(zip(*(lane.tolist() for lane in lanes), strict=True))


def bytes_of(item: Any) -> int:
    """The size of an object and of all that it refers to."""
    seen: dict[int, Any] = {}
    todo = [item]
    while todo:
        found = todo.pop()
        if id(found) not in seen and not isinstance(found, type | ModuleType | FunctionType):
            seen[id(found)] = found
            todo += [
                *gc.get_referents(found),
                *([found.base] if isinstance(found, np.ndarray) else []),
            ]
    return sum(map(sys.getsizeof, seen.values()))


step = st.tuples(
    st.sampled_from(["push", "push", "pop", "save"]), st.lists(st.integers(0, 60), max_size=6)
)


@pytest.mark.parametrize(
    ("fifo", "width"), [(True, 1), (False, 1), (False, 7), (False, 1000), (False, 0)]
)
@settings(max_examples=40, derandomize=True)
@given(steps=st.lists(step, max_size=14), unit=st.sampled_from([1, 3, 50]))
def test_against_a_sorted_list(
    fifo: bool, width: int, steps: list[tuple[str, list[int]]], unit: int
) -> None:
    store, model, came, clock = make(fifo, width), list[tuple[float, ...]](), 0, -30
    newest = 0  # a queue takes rows in the order of their expiry only
    for action, numbers in steps:
        if action == "push":
            exps = (
                sorted(newest + n * unit for n in numbers) if fifo else [n * unit for n in numbers]
            )
            newest = exps[-1] if fifo and exps else newest
            order = np.arange(came, came + len(exps))
            came += len(exps)
            store.push([np.array(exps, np.int64), order, order / 2])
            model += [(e, o, o / 2) for e, o in zip(exps, order.tolist(), strict=True)]
        elif action == "pop":
            clock += sum(numbers) * unit
            due = sorted(r for r in model if r[0] <= clock)
            model = [r for r in model if r[0] > clock]
            assert rows_of(store.pop(clock)) == due
        else:
            copy = make(fifo, width)
            copy.restore(store.state())
            store = copy
        assert len(store) == len(model)
        assert sorted(rows_of(store.peek())) == sorted(model)


def test_rows_pushed_behind_the_clock_are_due_at_once() -> None:
    store = PartitionedStore(DTYPES, 10)
    assert rows_of(store.pop(95)) == []
    store.push([np.array([96, 5, 94]), np.arange(3), np.zeros(3)])
    assert rows_of(store.pop(95)) == [(5, 1, 0.0), (94, 2, 0.0)]
    assert rows_of(store.pop(96)) == [(96, 0, 0.0)]


def test_the_lanes_keep_their_types_even_when_nothing_is_due() -> None:
    for store in (make(True, 1), make(False, 5), make(False, 0)):
        assert [lane.dtype for lane in store.pop(0)] == DTYPES
        assert [lane.dtype for lane in store.peek()] == DTYPES


@pytest.mark.parametrize(("fifo", "width"), [(True, 1), (False, 16), (False, 0)])
def test_memory_stays_bounded_over_fifty_windows(fifo: bool, width: int) -> None:
    window, batch = 1000, 25
    store = make(fifo, width)
    most, memory = 0, list[int]()
    for ts in range(0, 50 * window, batch):
        exp = np.arange(ts, ts + batch) + window
        if not fifo:
            exp = exp[::-1] - (exp % 3) * 200
        store.push([exp, np.arange(ts, ts + batch), np.zeros(batch)])
        store.pop(ts + batch - 1)
        most = max(most, len(store))
        memory.append(bytes_of(store))
    assert most <= window
    first = max(memory[: len(memory) // 10])
    assert first <= 8 * window * sum(np.dtype(d).itemsize for d in DTYPES)
    assert max(memory) <= first


def test_of_a_row_taken_back_and_shown_again_the_last_showing_expires() -> None:
    """What waits beside the first one, such as a group's slot, may be somebody else's by then."""
    exp, sign = np.array([5, 5, 5, 5]), np.array([1, 1, -1, 1], np.int8)
    assert uncancelled(exp, sign, [np.array([7, 8, 7, 7])]).tolist() == [1, 3]
