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
    assert table.capacity <= 1024
    assert sum(values.nbytes for _, values in flatten(table.state())) <= 100_000
