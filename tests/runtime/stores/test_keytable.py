"""The table of distinct keys against a dictionary, also where all hashes collide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.runtime.state import flatten
from eddyline.runtime.stores.keys import group_hashes
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.rowstore import RowStore
from watched_buckets import refuse_to_rebuild, watched_tables

TYPES = {
    "integers": ([pa.int64()], st.tuples(st.integers(-3, 3) | st.none())),
    "texts": ([pa.string()], st.tuples(st.sampled_from(["", "a", "b", "aa"]) | st.none())),
    "pairs": (
        [pa.float64(), pa.string()],
        st.tuples(st.sampled_from([0.0, 1.5]) | st.none(), st.sampled_from("ab") | st.none()),
    ),
}


def two_bits(columns: Sequence[pa.Array]) -> np.ndarray:
    """A degenerate hash: four values."""
    return group_hashes(columns) & 3


def columns_of(types: list[pa.DataType], rows: list[tuple[Any, ...]]) -> list[pa.Array]:
    return [pa.array([r[i] for r in rows], t) for i, t in enumerate(types)]


def copied(table: KeyTable, types: list[pa.DataType], hashes: Any) -> KeyTable:
    out = KeyTable(types, hashes)
    out.restore(table.state())
    return out


@pytest.mark.parametrize("hashes", [group_hashes, two_bits], ids=["hashes", "collisions"])
@pytest.mark.parametrize("kind", TYPES)
@settings(max_examples=30, derandomize=True)
@given(data=st.data())
def test_against_a_dictionary(kind: str, hashes: Any, data: st.DataObject) -> None:
    types, row = TYPES[kind]
    table, model = KeyTable(types, hashes), dict[tuple[Any, ...], int]()
    steps = st.lists(st.tuples(st.sampled_from(["find", "find", "release", "save"]), st.lists(row)))
    for step, rows in data.draw(steps):
        if step == "find":
            slots = table.slots(columns_of(types, rows), len(rows)).tolist()
            for key, slot in zip(rows, slots, strict=True):
                assert model.setdefault(key, slot) == slot
        elif step == "release":
            gone = [model[key] for key in dict.fromkeys(rows) if key in model]
            table.release(np.array(gone, np.int64))
            used = set(table.used().tolist())  # pinned ones stay
            model = {key: slot for key, slot in model.items() if slot in used}
        else:
            table = copied(table, types, hashes)
        slots = np.array(list(model.values()), np.int64)
        assert len(table) == len(model) == len(set(model.values()))
        assert set(table.used().tolist()) == set(model.values())
        keys = [c.to_pylist() for c in table.keys(slots)]
        assert list(zip(*keys, strict=True)) == list(model)


def test_whether_different_keys_have_had_one_hash() -> None:
    types = [pa.string()]
    for hashes, expected in ((group_hashes, False), (two_bits, True)):
        table = KeyTable(types, hashes)
        table.slots([pa.array(["a"])], 1)
        assert not table.collided
        table.slots([pa.array(list("abcdef"))], 6)
        assert table.collided == copied(table, types, hashes).collided == expected


def test_a_null_is_a_key_of_its_own_and_no_value_is_mistaken_for_it() -> None:
    table = KeyTable([pa.int64()])
    values = pa.array([0, None, 0, None, 5])
    slots = table.slots([values], 5).tolist()
    assert slots[0] == slots[2]
    assert slots[1] == slots[3]
    assert len(set(slots)) == 3


def test_zeros_and_nans_are_one_key_each() -> None:
    table = KeyTable([pa.float64()])
    odd_nan = np.array([0x7FF8000000000123], np.int64).view(np.float64)[0]
    slots = table.slots([pa.array([0.0, -0.0, np.nan, odd_nan, None])], 5).tolist()
    assert slots[0] == slots[1] != slots[2] == slots[3] != slots[4]


def test_no_columns_mean_one_key() -> None:
    table = KeyTable([])
    assert table.slots([], 3).tolist() == [0, 0, 0]
    table.release(np.zeros(1, np.int64))
    assert table.used().tolist() == [0]
    assert copied(table, [], group_hashes).slots([], 2).tolist() == [0, 0]


@pytest.mark.parametrize("type_", [pa.int64(), pa.string()], ids=str)
def test_capacity_stays_bounded_under_churn(type_: pa.DataType) -> None:
    table = KeyTable([type_])
    for start in range(0, 50_000, 500):
        keys = pa.array(range(start, start + 500)).cast(type_)
        table.release(table.slots([keys], 500))
    assert len(table) == 0
    assert table.end <= 1024
    assert sum(values.nbytes for _, values in flatten(table.state())) <= 100_000


def few_hashes(columns: Sequence[pa.Array]) -> np.ndarray:
    """Every hash has several values."""
    return group_hashes(columns) & 0x1FF


def keys_of(numbers: np.ndarray, type_: pa.DataType) -> list[pa.Array]:
    return [pa.array(numbers).cast(type_)]


@pytest.mark.parametrize("hashes", [group_hashes, few_hashes], ids=["hashes", "collisions"])
@pytest.mark.parametrize("type_", [pa.int64(), pa.string()], ids=str)
@settings(max_examples=25, derandomize=True, deadline=None)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["new", "new", "mixed", "oldest", "any", "save"]), st.floats(0, 1)
        ),
        max_size=20,
    ),
    seed=st.integers(0, 9),
)
def test_many_keys_against_a_dictionary(
    type_: pa.DataType, hashes: Any, steps: list[tuple[str, float]], seed: int
) -> None:
    """Growth over many doublings, releases in the order of arrival or not, saved meanwhile."""
    rng = np.random.default_rng(seed)
    table, model, came = KeyTable([type_], hashes), dict[int, int](), 0
    for step, part in steps:
        if step == "save":
            table = copied(table, [type_], hashes)
        elif step in ("oldest", "any"):
            gone = list(model) if step == "oldest" else rng.permutation(list(model)).tolist()
            released = [model.pop(key) for key in gone[: int(part * len(gone))]]
            table.release(np.array(released, np.int64))
            used = set(table.used().tolist())  # pinned ones stay
            model.update({k: s for k, s in zip(gone, released, strict=False) if s in used})
        else:
            count = int(part * 1500)
            keys = came + np.arange(count)
            if step == "mixed":
                keys = rng.integers(0, came + count, count)
            came += count
            for key, slot in zip(
                keys.tolist(), table.slots(keys_of(keys, type_), count).tolist(), strict=True
            ):
                assert model.setdefault(key, slot) == slot
        slots = np.array(list(model.values()), np.int64)
        assert set(table.used().tolist()) == set(slots.tolist())
        assert len(table) == slots.size == np.unique(slots).size
        assert slots.max(initial=-1) < table.end
        keys = np.array(list(model), np.int64)
        assert table.keys(slots)[0].equals(keys_of(keys, type_)[0])
    keys, slots = (np.array(list(v), np.int64) for v in (model, model.values()))
    np.testing.assert_array_equal(table.slots(keys_of(keys, type_), keys.size), slots)


def test_a_table_that_grows_is_not_rebuilt(monkeypatch: pytest.MonkeyPatch) -> None:
    table = KeyTable([pa.int64()])
    table.slots(keys_of(np.arange(20_000), pa.int64()), 20_000)
    refuse_to_rebuild(monkeypatch)
    tables = watched_tables(monkeypatch)
    for first in range(20_000, 300_000, 500):
        keys = np.arange(first, first + 500)
        assert np.unique(table.slots(keys_of(keys, pa.int64()), 500)).size == 500
        assert tables[-1][0].size <= 8 * len(table)
    assert len({heads.size for heads, _, _ in tables}) > 3, "it has doubled often"
    assert sum(split is not None for _, _, split in tables) > 100
    some = np.arange(0, 300_000, 97)
    assert table.keys(table.slots(keys_of(some, pa.int64()), some.size))[0].to_pylist() == list(
        some
    )
    assert len(table) == 300_000


def test_a_table_is_saved_while_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    table, tables = KeyTable([pa.int64()]), watched_tables(monkeypatch)
    first = 0
    while first < 20_000 or tables[-1][2] is None:
        slots = table.slots(keys_of(np.arange(first, first + 300), pa.int64()), 300)
        table.release(slots[::7])
        first += 300
    keys = np.arange(first)[np.arange(first) % 300 % 7 != 0]
    copy = copied(table, [pa.int64()], group_hashes)
    assert (len(copy), copy.end) == (len(table), table.end) == (keys.size, table.end)
    for grown in (table, copy):
        for more in range(first, first + 9_000, 300):
            grown.slots(keys_of(np.arange(more, more + 300), pa.int64()), 300)
    columns = keys_of(keys, pa.int64())
    np.testing.assert_array_equal(table.slots(columns, keys.size), copy.slots(columns, keys.size))
    assert len(table) == len(copy)


@pytest.mark.parametrize("order", ["as they came", "any"])
def test_keys_of_released_slots_are_removed_some_at_a_time(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, rng = KeyTable([pa.string()]), np.random.default_rng(5)
    stored, appended = list[RowStore](), list[int]()
    append = RowStore.append

    def append_counted(self: RowStore, count: int, *rest: Any) -> range:
        stored[:] = [self]
        appended.append(count)
        return append(self, count, *rest)

    monkeypatch.setattr(RowStore, "keep", lambda *_: pytest.fail("all keys were copied"))
    monkeypatch.setattr(RowStore, "append", append_counted)
    live = np.zeros(0, np.int64)
    for first in range(0, 100_000, 200):
        new = table.slots(keys_of(np.arange(first, first + 200), pa.string()), 200)
        live = np.concatenate((live, new))
        if first >= 20_000:
            if order == "any":
                rng.shuffle(live)
            appended.clear()
            table.release(live[:200])
            live = live[200:]
            assert sum(appended) <= 400
            assert order == "any" or not sum(appended), "what came first is dropped"
            assert len(stored[0]) <= 3 * len(table)
    assert len(table) == live.size == 20_000
    np.testing.assert_array_equal(table.slots(table.keys(live), live.size), live)
