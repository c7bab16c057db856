"""Key columns to 64-bit integers.

A single column of at most 64 bits maps one to one (*exact*): floats by their bits with -0.0 made
0.0 and all NaNs alike, so NaN equals NaN as in Spark. Several columns, strings and decimals are
hashed, and matches by hash must be verified by their values; so are structures, lists and maps,
element by element.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.list_parts import list_parts
from eddyline.kernels.hashing import NULL_HASH, combine, hash_texts, mix_all
from eddyline.kernels.lists import all_in_lists, hash_lists, ranges
from eddyline.kernels.text import same_texts
from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.stores.columns import (
    Array,
    TextColumn,
    any_of,
    raw_values,
    text_buffers,
    validity_of,
)
from eddyline.types import is_list

_NAN_BITS = np.float64("nan").view(np.int64)


def is_exact(types: Sequence[pa.DataType]) -> bool:
    """Whether equal keys mean equal values."""
    return len(types) == 1 and (pa.types.is_boolean(types[0]) or _fits(types[0]))


def _fits(type_: pa.DataType) -> bool:
    try:
        return int(type_.bit_width) <= 64
    except ValueError:
        return False


def _bits(values: pa.Array) -> Array:
    """int64[n], one to one with the values of a type of at most 64 bits; any number where null."""
    type_ = values.type
    if pa.types.is_floating(type_):
        raw = raw_values(values, np.dtype(type_.to_pandas_dtype()))
        numbers = np.add(raw, 0.0, dtype=np.float64)
        unknown, bits = np.isnan(numbers), numbers.view(np.int64)
        if any_of(unknown):
            bits[unknown] = _NAN_BITS
        return bits
    if pa.types.is_boolean(type_):
        return np.asarray(values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False))
    width = int(type_.bit_width) // 8
    return raw_values(values, np.dtype(f"i{width}")).astype(np.int64)


def value_bits(values: pa.Array) -> Array:
    """int64[n]: equal for equal values, where NULL is a value like any other."""
    if not (_fits(values.type) or pa.types.is_boolean(values.type)):
        return _hashes(values)
    bits, valid = _bits(values), validity_of(values)
    return bits if valid is None else np.where(valid, bits, NULL_HASH)


def _hashes(values: pa.Array) -> Array:
    if pa.types.is_struct(values.type):
        hashes = group_hashes([values.field(i) for i in range(values.type.num_fields)])
    elif is_list(values.type):
        offsets, elements = list_parts(values)
        hashes = hash_lists(offsets, _hashes(elements))
    elif _fits(values.type) or pa.types.is_boolean(values.type):
        hashes = mix_all(_bits(values))
    else:
        if pa.types.is_decimal(values.type):
            values = values.cast(pa.string())
        hashes = hash_texts(*text_buffers(values))
    valid = validity_of(values)
    if valid is not None:
        hashes[~valid] = NULL_HASH
    return hashes


def join_keys(columns: Sequence[pa.Array], count: int) -> tuple[Array, Array | None]:
    """Keys of rows for an equi join: int64[n], and bool[n] of the rows that can match at all.

    A row with a NULL in its key matches nothing. No columns (a nested-loop join): one key for all.
    """
    if not columns:
        return np.zeros(count, np.int64), None
    usable = _known(columns)
    if is_exact([c.type for c in columns]):
        return _bits(columns[0]), usable
    return group_hashes(columns), usable


def _known(columns: Sequence[pa.Array]) -> Array | None:
    """bool[n], True where no column is NULL; None if that is everywhere."""
    known = None
    for column in columns:
        valid = validity_of(column)
        if valid is not None:
            known = valid if known is None else known & valid
    return known


def all_known(columns: Sequence[pa.Array], count: int) -> Array:
    """bool[count]: the rows in which no column is NULL."""
    known = _known(columns)
    return np.ones(count, np.bool_) if known is None else known


def group_hashes(columns: Sequence[pa.Array]) -> Array:
    """Hashes of rows for grouping, where NULL is a value like any other; int64[n]."""
    hashes = _hashes(columns[0])
    for column in columns[1:]:
        combine(hashes, _hashes(column))
    return hashes


def same_keys(batch: Batch, left: int | Evaluator, right: int | Evaluator) -> Array:
    """bool[n]: whether two columns of joined rows are equal, neither being NULL.

    A column is given by its number or as how to compute it. Texts that are in stores are compared
    where they are.
    """
    if isinstance(left, int) and isinstance(right, int):
        a, b = batch.in_store(left), batch.in_store(right)
        if a is not None and b is not None:
            (a_column, a_places), (b_column, b_places) = a, b
            if isinstance(a_column, TextColumn) and isinstance(b_column, TextColumn):
                a_texts, b_texts = a_column.texts(), b_column.texts()
                return same_texts(
                    a_texts.offsets,
                    a_texts.data,
                    a_texts.origin,
                    a_places,
                    b_texts.offsets,
                    b_texts.data,
                    b_texts.origin,
                    b_places,
                )
    values = [batch.column(c) if isinstance(c, int) else c(batch) for c in (left, right)]
    return same_values([values[0]], [values[1]])


def same_values(left: Sequence[pa.Array], right: Sequence[pa.Array]) -> Array:
    """bool[n]: whether rows are equal in all columns, NULL and NaN being equal to themselves."""
    same = np.ones(len(left[0]), np.bool_)
    for a, b in zip(left, right, strict=True):
        equal = _equal(a, b)
        va, vb = validity_of(a), validity_of(b)
        if va is not None or vb is not None:
            va = np.ones(len(a), np.bool_) if va is None else va
            vb = np.ones(len(b), np.bool_) if vb is None else vb
            equal = np.where(va & vb, equal, va == vb)
        same &= equal
    return same


def _equal(a: pa.Array, b: pa.Array) -> Array:
    """bool[n]: whether values are equal; anything where one is NULL."""
    type_ = a.type
    if pa.types.is_struct(type_):
        fields = range(type_.num_fields)
        return same_values([a.field(i) for i in fields], [b.field(i) for i in fields])
    if is_list(type_):
        return _equal_lists(a, b)
    if _fits(type_) or pa.types.is_boolean(type_):
        equal: Array = _bits(a) == _bits(b)
        return equal
    return np.asarray(pc.equal(a, b).fill_null(False).to_numpy(zero_copy_only=False))


def _equal_lists(a: pa.Array, b: pa.Array) -> Array:
    (a_offsets, a_elements), (b_offsets, b_elements) = list_parts(a), list_parts(b)
    lengths = np.diff(a_offsets)
    equal = lengths == np.diff(b_offsets)
    offsets = np.zeros(a_offsets.size, np.int64)
    np.cumsum(np.where(equal, lengths, 0), out=offsets[1:])
    parts = (
        elements.take(pa.array(ranges(starts[:-1], offsets)))
        for starts, elements in ((a_offsets, a_elements), (b_offsets, b_elements))
    )
    equal &= all_in_lists(offsets, same_values([next(parts)], [next(parts)]))
    return np.asarray(equal)
