"""Every column type goes in and comes out again."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.runtime.stores.columns import Column
from eddyline.runtime.stores.nested_columns import make_column
from eddyline.types import SQL_TYPES

POINT = pa.struct([("x", pa.int64()), ("name", pa.string())])
SAMPLES: dict[pa.DataType, list[Any]] = {
    pa.bool_(): [True, False, True],
    pa.int8(): [-128, 0, 127],
    pa.int16(): [-(1 << 15), 0, 99],
    pa.int32(): [-(1 << 31), 0, 99],
    pa.int64(): [-(1 << 63), 0, (1 << 63) - 1],
    pa.float32(): [1.5, -0.0, float("inf")],
    pa.float64(): [1e300, -0.0, 5e-324],
    pa.string(): ["", "grüße", "x" * 300],
    pa.binary(): [b"", b"\xff\x00", b"y" * 300],
    pa.date32(): [date(1, 1, 1), date(1970, 1, 1), date(9999, 12, 31)],
    pa.timestamp("us", tz="UTC"): [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2999, 1, 1, tzinfo=UTC),
    ],
    pa.decimal128(38, 10): [Decimal("-1.5"), Decimal(0), Decimal("9" * 28)],
    pa.duration("us"): [0, -5, 1 << 40],
    POINT: [{"x": 1, "name": "a"}, {"x": None, "name": "grüße"}, {"x": 3, "name": None}],
    pa.list_(pa.string()): [[], ["a", None, "b" * 300], ["c"]],
    pa.list_(POINT): [[{"x": 1, "name": "a"}, None], [], [{"x": None, "name": "b"}]],
    pa.list_(pa.list_(pa.int16())): [[[], [1, 2]], [None, [3]], []],
    pa.map_(pa.string(), pa.bool_()): [[("a", True), ("b", None)], [], [("c", False)]],
}  # fmt: skip
NESTED = [t for t in SAMPLES if pa.types.is_nested(t)]
TYPES = [*dict.fromkeys(SQL_TYPES.values()), pa.decimal128(38, 10), pa.duration("us"), *NESTED]

types = pytest.mark.parametrize("type_", TYPES, ids=str)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def values_of(type_: pa.DataType, *, nulls: bool) -> pa.Array:
    """Samples, twice over, with or without NULLs between them; a slice with an offset."""
    samples = SAMPLES[type_] * 2
    mixed = [v for s in samples for v in (s, None)] if nulls else samples
    return pa.array([samples[0], *mixed, samples[1]], type_).slice(1, len(mixed))


def filled(type_: pa.DataType) -> tuple[Column, pa.Array]:
    """A column with two pieces written, the second of which brings NULLs, and what is in it."""
    first, second = (values_of(type_, nulls=n) for n in (False, True))
    column = make_column(type_, 64)
    column.write(0, first)
    column.write(len(first), second)
    return column, pa.concat_arrays([first, second])


def test_all_sql_types_have_samples() -> None:
    assert set(TYPES) == set(SAMPLES)


@types
@pytest.mark.parametrize("nulls", [False, True])
def test_what_is_written_is_gathered(type_: pa.DataType, nulls: bool) -> None:
    values = values_of(type_, nulls=nulls)
    column = make_column(type_, 64)
    column.write(0, values)
    out = column.gather(np.arange(len(values)))
    out.validate(full=True)
    assert out.equals(values)
    assert out.null_count == values.null_count


@types
def test_gathering_in_any_order_with_repetition(type_: pa.DataType) -> None:
    column, expected = filled(type_)
    places = ints(3, 3, 9, 0, len(expected) - 1)
    assert column.gather(places).equals(expected.take(pa.array(places)))
    assert column.gather(ints()).equals(expected.slice(0, 0))


@types
@pytest.mark.parametrize(("start", "end"), [(0, 0), (0, 3), (2, 11), (7, 16)])
def test_views_are_the_values_of_successive_places(
    type_: pa.DataType, start: int, end: int
) -> None:
    column, expected = filled(type_)
    column.shift(1, len(expected), 64)
    seen = column.view(start, end)
    seen.validate(full=True)
    assert seen.equals(expected.slice(start + 1, end - start))


@types
def test_moving_keeps_the_chosen_places_and_room_to_write(type_: pa.DataType) -> None:
    column, expected = filled(type_)
    places = ints(1, 4, 7, 8)
    column.take(places, 128)
    more = values_of(type_, nulls=True)
    column.write(4, more)
    both = pa.concat_arrays([expected.take(pa.array(places)), more])
    assert column.gather(np.arange(len(both))).equals(both)
    column.shift(2, 6, 64)
    assert column.gather(np.arange(4)).equals(both.slice(2, 4))


@types
def test_all_null_and_empty_arrays(type_: pa.DataType) -> None:
    column = make_column(type_, 64)
    column.write(0, pa.array([], type_))
    column.write(0, pa.nulls(3, type_))
    assert column.gather(np.arange(3)).equals(pa.nulls(3, type_))
