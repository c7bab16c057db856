"""An index of all rows knows them without looking at each."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.runtime.state import rows
from eddyline.runtime.stores.index import HashIndex
from eddyline.runtime.stores.rowstore import RowStore


def new_store() -> RowStore:
    return RowStore((), ("ts", "seq"))


def append(store: RowStore, count: int) -> np.ndarray:
    at = np.arange(store.next_id, store.next_id + count)
    positions = store.append(count, {"ts": at, "seq": at})
    return np.arange(positions.start, positions.stop)


def saved(index: HashIndex) -> dict[int, int]:
    """Keys by row id, as they would be written."""
    found = rows(index.state(), "keys")
    keys = [k for _, batch in found.batches() for k in batch.column(0).to_pylist()]
    return dict(zip(map(int, found.numbers), keys, strict=True))


def test_a_save_does_not_look_at_rows_that_were_written() -> None:
    store = new_store()
    index = HashIndex(store)
    positions = append(store, 300_000)
    index.insert(positions, positions)
    assert len(saved(index)) == 300_000
    for _ in range(3):
        store.drop_before(store.first + 1_000)
        index.insert(more := append(store, 1_000), more)
        tracemalloc.start()
        state = rows(index.state(), "keys")
        for _, batch in state.batches(len(state) - 1_000):
            assert batch.column(0).to_pylist() == more.tolist()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert state.numbers == range(store.first, store.end)
        assert peak < 200_000, "bytes; all keys are 2.4 MB"


CHANGES: dict[str, Callable[[HashIndex, RowStore, int], None]] = {
    "insert": lambda index, store, n: _insert(index, append(store, n)),
    "insert some": lambda index, store, n: _insert(index, append(store, n)[::2]),
    "pass over": lambda index, store, n: _insert(index, append(store, n)[:0]),
    "drop": lambda index, store, n: store.drop_before(store.first + n),
    "keep": lambda index, store, n: store.keep(np.arange(len(store)) % (n + 2) > 0),
    "take out": lambda index, store, n: _take_out(index, n),
    "take all": lambda index, store, n: _take_all(index),
    "forget": lambda index, store, n: index.forget(np.arange(len(store)) % (n + 2) == 0),
    "rewind": lambda index, store, n: index.rewind(),
}


def _insert(index: HashIndex, positions: np.ndarray) -> None:
    index.insert(positions, positions % 5)


def _take_out(index: HashIndex, key: int) -> None:
    index.take_out(np.array([key]))


def _take_all(index: HashIndex) -> None:
    index.take_all()


@settings(max_examples=300, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(sorted(CHANGES)), st.integers(1, 4)), max_size=12))
def test_what_is_saved_is_what_is_indexed(steps: list[tuple[str, int]]) -> None:
    store = new_store()
    index = HashIndex(store)
    for change, n in steps:
        CHANGES[change](index, store, n)
        positions = index.positions()
        keys, _ = index.keys_at(positions)
        expected = dict(zip(store.ids(positions).tolist(), keys.tolist(), strict=True))
        if store.generation == 0 or change == "insert":
            index.insert(np.zeros(0, np.int64), np.zeros(0, np.int64))
        assert saved(index) == expected


def test_linked_rows_are_saved() -> None:
    store = new_store()
    index = HashIndex(store)
    positions = append(store, 6)
    _insert(index, positions[4:])
    index.link(positions[1:3], positions[1:3])
    assert sorted(saved(index)) == [1, 2, 4, 5]
    store.drop_before(4)
    assert sorted(saved(index)) == [4, 5]


@pytest.mark.parametrize("renumbered", [False, True])
def test_a_restored_index_is_known(renumbered: bool) -> None:
    store, other = new_store(), new_store()
    index, restored = HashIndex(store), HashIndex(other)
    _insert(index, append(store, 9))
    if renumbered:
        store.keep(np.arange(9) != 4)
        index.insert(np.zeros(0, np.int64), np.zeros(0, np.int64))
    other.restore(store.state())
    restored.restore(index.state())
    more = append(other, 2)
    restored.insert(more, more % 5)
    assert sorted(saved(restored)) == [n for n in range(11) if n != 4 or not renumbered]
