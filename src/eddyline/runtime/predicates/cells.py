"""The thresholds of a grouped filter in order, and which cell between them a value falls into.

An interval of values begins and ends at thresholds: where its predicate begins to accept and where
it ceases. ``x > c`` accepts from the value that follows ``c`` on, which exists in all domains:
the next integer (instants, days, unscaled decimals), the next float, the bytes of a text and a zero
byte.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.value_sets import ValueSet
from eddyline.errors import DataError
from eddyline.kernels.grouped_filter import (
    cells_of_numbers,
    directory,
)
from eddyline.kernels.text_cells import TextThresholds, cells_of_texts, leading_bytes
from eddyline.runtime.stores.columns import Array, raw_values, text_buffers, validity_of
from eddyline.types import TIMESTAMP, sql_type

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
#: By Arrow's number of a type, NumPy's of its buffer, where that is in the form of keys.
_AS_IT_IS: Final = {
    pa.int64().id: np.dtype(np.int64),
    pa.float64().id: np.dtype(np.float64),
    TIMESTAMP.id: np.dtype(np.int64),
}
#: Digits of decimals that fit int64.
_INT64_DIGITS = 18
#: Buckets per threshold, and at least. Most of them should be empty: then nothing is searched.
_BUCKETS = 2
_LEAST_BUCKETS = 512
#: The directory's range leaves out this share of the thresholds at either end: outliers must not
#: make all others fall into one bucket.
_OUTLIERS = 64


class Keys(NamedTuple):
    """Values in the form that kernels compare: numbers, or texts as bytes.

    Attributes:
        values: int64[n] or float64[n]; of texts int32[n + 1], offsets into ``data``.
        data: uint8, the bytes of texts; None for numbers.
        valid: bool[n], or None if no value is NULL.
    """

    values: Array
    data: Array | None
    valid: Array | None


class Steps(NamedTuple):
    """A set of values as the thresholds at which it begins or ceases to accept.

    Attributes:
        starts: whether it accepts what is below all thresholds.
        null, nan: whether it accepts these.
        thresholds: ascending: int, float or bytes.
    """

    starts: bool
    null: bool
    nan: bool
    thresholds: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class StepColumns:
    """The steps of several predicates.

    Attributes:
        bits: int64[n], of the queries. counts: int64[n], numbers of thresholds.
        flags: bool[3, n]: ``starts``, ``null`` and ``nan``.
        thresholds: of all, one after the other.
    """

    bits: Array
    counts: Array
    flags: Array
    thresholds: list[Any]

    @classmethod
    def of(cls, steps: Mapping[int, Steps]) -> StepColumns:
        """The steps by the bits of queries."""
        every = steps.values()
        counts = np.array([len(s.thresholds) for s in every], np.int64)
        flags = np.array([(s.starts, s.null, s.nan) for s in every], np.bool_).T
        thresholds = [t for s in every for t in s.thresholds]
        return cls(np.fromiter(steps, np.int64, len(steps)), counts, flags, thresholds)

    def and_those(self, others: StepColumns) -> StepColumns:
        """These steps and those of other queries."""
        return StepColumns(
            np.concatenate((self.bits, others.bits)),
            np.concatenate((self.counts, others.counts)),
            np.concatenate((self.flags, others.flags), axis=1),
            self.thresholds + others.thresholds,
        )


class Cells(Protocol):
    """Thresholds in order. Cell ``count`` is that of NULL, ``count + 1`` that of NaN."""

    @property
    def count(self) -> int:
        """How many cells there are for values."""

    def find(self, keys: Keys, places: Array) -> Array:
        """int64[k]: the cells of the values at int64[k] places."""


def keys_of(values: pa.Array) -> Keys:
    """The keys of an array.

    Raises:
        DataError: values of its type have no order that predicates could use.
    """
    type_, valid = values.type, validity_of(values)
    as_it_is = _AS_IT_IS.get(type_.id)
    if as_it_is is not None:
        return Keys(_unwritable(raw_values(values, as_it_is)), None, valid)
    if pa.types.is_string(type_) or pa.types.is_binary(type_):
        return Keys(*text_buffers(values), valid)
    if pa.types.is_decimal128(type_) and type_.precision > _INT64_DIGITS:
        return Keys(*_wide_decimals(values), valid)
    return Keys(_unwritable(_numbers(values)), None, valid)


def _unwritable(numbers: Array) -> Array:
    """The same array, like those of Arrow: kernels are compiled for one kind."""
    numbers.setflags(write=False)
    return numbers


def _numbers(values: pa.Array) -> Array:
    type_ = values.type
    if pa.types.is_boolean(type_):
        known = values.fill_null(False) if values.null_count else values
        return np.asarray(known.to_numpy(zero_copy_only=False), np.int64)
    if pa.types.is_decimal128(type_):
        return raw_values(values, np.dtype("2i8"))[:, 0].copy()
    if pa.types.is_floating(type_) or pa.types.is_signed_integer(type_):
        raw = raw_values(values, np.dtype(type_.to_pandas_dtype()))
        return raw.astype(np.float64 if pa.types.is_floating(type_) else np.int64, copy=False)
    if pa.types.is_temporal(type_) and type_.bit_width <= 64:
        return raw_values(values, np.dtype(f"i{type_.bit_width // 8}")).astype(np.int64, copy=False)
    raise DataError(
        f"predicates on values of type {sql_type(type_)} cannot be indexed; valid: booleans, "
        "signed integers, floats, decimals, dates, timestamps, strings, binary"
    )


def _wide_decimals(values: pa.Array) -> tuple[Array, Array]:
    """128-bit integers as 16 bytes each that are ordered alike: most significant first."""
    halves = raw_values(values, np.dtype("2u8"))
    swapped = np.empty((len(values), 2), ">u8")
    swapped[:, 0] = halves[:, 1] ^ np.uint64(1 << 63)
    swapped[:, 1] = halves[:, 0]
    offsets = np.arange(0, 16 * len(values) + 1, 16, dtype=np.int32)
    data = swapped.view(np.uint8).reshape(-1)
    for array in (offsets, data):
        array.setflags(write=False)
    return offsets, data


def steps_of(accepts: ValueSet, type_: pa.DataType) -> Steps:
    """The thresholds of a set of values, whose bounds are values of an Arrow type."""
    bounds = [b for i in accepts.intervals for b in (i.low, i.high) if b is not None]
    constants = _constants(bounds, type_)
    starts = False
    thresholds: list[Any] = []

    def turn(constant: Any, after: bool) -> None:
        """Begin or cease to accept, at a constant or right after it."""
        threshold = _following(constant) if after else constant
        if threshold is None:  # there is no threshold after it
            return
        if thresholds and thresholds[-1] == threshold:  # nothing lies between
            thresholds.pop()
        else:
            thresholds.append(threshold)

    for interval in accepts.intervals:
        if interval.low is None:
            starts = True
        else:
            turn(next(constants), not interval.low_closed)
        if interval.high is not None:
            turn(next(constants), interval.high_closed)
    return Steps(starts, accepts.null, accepts.nan, tuple(thresholds))


def _constants(values: Sequence[Any], type_: pa.DataType) -> Iterator[Any]:
    """The keys of values of a type, one by one."""
    if not values or pa.types.is_float64(type_) or pa.types.is_int64(type_):
        yield from values
        return
    if pa.types.is_string(type_):
        yield from (value.encode() for value in values)
        return
    keys = keys_of(pa.array(values, type_))
    if keys.data is None:
        yield from keys.values.tolist()
        return
    data = keys.data.tobytes()
    for i in range(len(values)):
        yield data[keys.values[i] : keys.values[i + 1]]


def _following(constant: Any) -> Any:
    """The least value above a constant; None if there is none."""
    if isinstance(constant, bytes):
        return constant + b"\0"
    if isinstance(constant, int):
        return constant + 1 if constant < _MOST else None
    return math.nextafter(constant, math.inf) if constant < math.inf else None


def make_cells(thresholds: Sequence[Any], type_: pa.DataType) -> tuple[Cells, Array]:
    """Thresholds of attributes of a type, in any order and perhaps equal, as cells.

    Returns:
        The cells, and int64[T]: the lowest cell above each threshold.
    """
    if keys_of(pa.array([], type_)).data is not None:
        return _text_cells(thresholds)
    dtype = np.float64 if pa.types.is_floating(type_) else np.int64
    values, places = np.unique(np.array(thresholds, dtype), return_inverse=True)
    return _NumberCells(values, *_spread(values)), places + 1


def _spread(values: Array) -> tuple[Array, float, float]:
    """A directory over distinct ascending numbers: its starts, origin and scale."""
    finite = values[np.isfinite(values)]
    buckets = max(_BUCKETS * values.size, _LEAST_BUCKETS)
    if finite.size == 0:
        return directory(values, buckets, 0.0, 0.0), 0.0, 0.0
    outliers = finite.size // _OUTLIERS
    origin, end = float(finite[outliers]), float(finite[-1 - outliers])
    width = end - origin
    scale = buckets / width if 0.0 < width < math.inf else 0.0
    if not math.isfinite(scale):  # of the smallest floats
        scale = 0.0
    return directory(values, buckets, origin, scale), origin, scale


@dataclass(frozen=True, slots=True)
class _NumberCells:
    values: Array
    starts: Array
    origin: float
    scale: float

    @property
    def count(self) -> int:
        return int(self.values.size) + 1

    def find(self, keys: Keys, places: Array) -> Array:
        cells = cells_of_numbers(
            keys.values, places, self.values, self.starts, self.origin, self.scale
        )
        return _with_nulls(cells, keys, places, self.count)


def _text_cells(thresholds: Sequence[bytes]) -> tuple[Cells, Array]:
    encoded = pa.array(thresholds, pa.binary()).dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    offsets, data = text_buffers(encoded.dictionary.take(pa.array(order)))
    skip = _common_prefix(offsets, data)
    leading, runs = np.unique(leading_bytes(offsets, data, skip), return_index=True)
    runs = np.append(runs, order.size)
    texts = TextThresholds(offsets, data, skip, leading, runs, *_spread(leading))
    return _TextCells(texts), rank[encoded.indices.to_numpy()] + 1


def _common_prefix(offsets: Array, data: Array) -> int:
    """How many first bytes all of some sorted texts share: those that the outer two do."""
    if offsets.size < 2:
        return 0
    first = data[offsets[0] : offsets[1]].tobytes()
    last = data[offsets[-2] : offsets[-1]].tobytes()
    pairs = enumerate(zip(first, last, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(last)))


@dataclass(frozen=True, slots=True)
class _TextCells:
    thresholds: TextThresholds

    @property
    def count(self) -> int:
        return int(self.thresholds.offsets.size)

    def find(self, keys: Keys, places: Array) -> Array:
        assert keys.data is not None, "texts have bytes"
        if self.count == 1:
            cells = np.zeros(places.size, np.int64)
        else:
            cells = cells_of_texts(keys.values, keys.data, places, self.thresholds)
        return _with_nulls(cells, keys, places, self.count)


def _with_nulls(cells: Array, keys: Keys, places: Array, null: int) -> Array:
    if keys.valid is not None:
        cells[~keys.valid[places]] = null
    return cells
