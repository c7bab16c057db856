"""Join keys, equality of key rows, and order keys of values."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.runtime.stores.keys import group_hashes, is_exact, join_keys, same_values
from eddyline.runtime.stores.order_keys import order_keys

ORDERED: dict[str, pa.Array] = {
    "bool": pa.array([False, True]),
    "int8": pa.array([-128, -1, 0, 127], pa.int8()),
    "int64": pa.array([-(1 << 63), -1, 0, 5, (1 << 63) - 1]),
    "float": pa.array([-math.inf, -1.5, 0.0, 1e-30, 2.0, math.inf, math.nan], pa.float32()),
    "double": pa.array([-math.inf, -1e300, -5e-324, 0.0, 5e-324, 1.0, math.inf, math.nan]),
    "date": pa.array([date(1, 1, 1), date(1969, 12, 31), date(2000, 1, 1)]),
    "timestamp": pa.array(
        [datetime(1900, 1, 1, tzinfo=UTC), datetime(2000, 1, 1, tzinfo=UTC)],
        pa.timestamp("us", "UTC"),
    ),
    "duration": pa.array([-5, 0, 5], pa.duration("us")),
    "decimal": pa.array([Decimal("-1.75"), Decimal("1.20"), Decimal("1.70"), Decimal("1.90")]),
    "string": pa.array(["", "a", "a\0", "b", "ä", "日"]),
    "binary": pa.array([b"", b"\x00", b"\x7f", b"\xff"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", ORDERED)
def test_order_keys_compare_as_values_do(kind: str) -> None:
    keys = order_keys(ORDERED[kind]).tolist()
    if kind in ("string", "binary"):  # their first bytes, padded with zeros, may tie
        assert keys == sorted(keys)
    else:
        assert all(a < b for a, b in pairwise(keys)), keys


def test_order_keys_know_one_zero_and_one_nan() -> None:
    odd_nan = np.array([0xFFF8000000000123], np.uint64).view(np.float64)[0]
    keys = order_keys(pa.array([0.0, -0.0, math.nan, odd_nan])).tolist()
    assert keys[0] == keys[1] < keys[2] == keys[3]


def test_exact_are_single_columns_of_at_most_64_bits() -> None:
    assert is_exact([pa.int64()])
    assert is_exact([pa.bool_()])
    assert is_exact([pa.float32()])
    for types in ([pa.string()], [pa.decimal128(5, 2)], [pa.int8(), pa.int8()], []):
        assert not is_exact(types), types


def test_join_keys_of_floats() -> None:
    keys, usable = join_keys([pa.array([0.0, -0.0, math.nan, -math.nan, 1.0])], 5)
    assert usable is None
    assert keys[0] == keys[1]
    assert keys[2] == keys[3]
    assert len(set(keys.tolist())) == 3


def test_rows_with_a_null_in_any_key_column_match_nothing() -> None:
    one, two = pa.array([1, None, 3, None]), pa.array(["a", "b", None, None])
    assert join_keys([one], 4)[1].tolist() == [True, False, True, False]  # type: ignore[union-attr]
    assert join_keys([one, two], 4)[1].tolist() == [True, False, False, False]  # type: ignore[union-attr]


def test_without_key_columns_all_rows_have_one_key() -> None:
    keys, usable = join_keys([], 3)
    assert (keys.tolist(), usable) == ([0, 0, 0], None)


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, None],
        ["a", "b", None],
        [Decimal("1.10"), Decimal("1.20"), None],
        [True, False, None],
    ],
    ids=["int", "text", "decimal", "bool"],
)  # fmt: skip
def test_hashes_and_equality_ignore_where_a_value_stands(values: list[Any]) -> None:
    whole = pa.array([values[0], *values, *values])
    first, second = whole.slice(1, 3), whole.slice(4, 3)
    np.testing.assert_array_equal(group_hashes([first]), group_hashes([second]))
    assert same_values([first], [second]).all()
    swapped = second.take(pa.array([1, 2, 0]))
    assert not same_values([first], [swapped]).any()
    assert same_values([first, first], [second, swapped]).tolist() == [False] * 3


def test_a_null_with_left_over_bytes_is_still_a_null() -> None:
    texts = pa.array(["a", "b"])
    valid = pa.py_buffer(b"\x02")
    nulled = pa.Array.from_buffers(pa.string(), 2, [valid, *texts.buffers()[1:]])
    clean = pa.array([None, "b"])
    np.testing.assert_array_equal(group_hashes([nulled]), group_hashes([clean]))
    assert same_values([nulled], [clean]).all()
