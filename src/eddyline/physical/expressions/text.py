"""Kernels of text functions and patterns."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.expressions import Call, Literal
from eddyline.physical.expressions.characters import FAR, Characters
from eddyline.physical.expressions.data import Datum, as_arrays, null_where_not, values_of
from eddyline.physical.expressions.kernel import Kernel, Maker, always, argument_constant
from eddyline.physical.expressions.letters import initcap, lower, translate, upper
from eddyline.physical.expressions.texts import make_instr


def _substring(text: Datum, position: Datum, length: Datum | None = None) -> pa.Array:
    """Spark's: from 1 (0 counts as 1); a negative position counts from the end."""
    texts, positions, *lengths = as_arrays(text, position, *([] if length is None else [length]))
    characters = Characters(texts)
    position = values_of(positions)
    start = np.where(
        position > 0, position - 1, np.where(position < 0, characters.lengths + position, 0)
    )
    count = np.clip(values_of(lengths[0]), 0, FAR) if lengths else FAR
    return _valid(characters.slice(start, start + count), positions, *lengths)


def _make_substring(call: Call) -> Kernel:
    """Uses Arrow's kernel if the bounds are constant."""
    bounds = [a.value for a in call.args[1:] if isinstance(a, Literal) and a.value is not None]
    if len(bounds) + 1 < len(call.args):
        return _substring
    position, length = bounds[0], max(bounds[1], 0) if len(bounds) == 2 else FAR
    start = position - 1 if position > 0 else position
    stop = start + length
    if start < 0 <= stop:  # a suffix
        return lambda texts, *_: pc.utf8_slice_codeunits(texts, start)
    return lambda texts, *_: pc.utf8_slice_codeunits(texts, start, stop)


def _left(text: Datum, count: Datum) -> pa.Array:
    texts, counts = as_arrays(text, count)
    return _valid(Characters(texts).slice(0, values_of(counts)), counts)


def _right(text: Datum, count: Datum) -> pa.Array:
    texts, counts = as_arrays(text, count)
    characters = Characters(texts)
    start = characters.lengths - np.clip(values_of(counts), 0, FAR)
    return _valid(characters.slice(start, characters.lengths), counts)


def _valid(values: pa.Array, *needed: pa.Array) -> pa.Array:
    """The values where none of the other arguments is NULL."""
    for other in needed:
        if other.null_count:
            values = null_where_not(other.is_valid(), values)
    return values


def _ascii(texts: pa.Array) -> pa.Array:
    return _valid(pa.array(Characters(texts).first_code_points()), texts)


def _make_trim(trim: Any) -> Maker:
    def make(call: Call) -> Kernel:
        characters = argument_constant(call, 1) if len(call.args) == 2 else " "
        return lambda texts, *_: trim(texts, characters)

    return make


def _make_pad(*, left: bool) -> Maker:
    def make(call: Call) -> Kernel:
        length, filler = max(argument_constant(call, 1), 0), argument_constant(call, 2)
        fill = (filler * length)[:length]

        def kernel(texts: pa.Array, *_: Datum) -> pa.Array:
            cut = pc.utf8_slice_codeunits(texts, 0, length)
            missing = length - values_of(pc.utf8_length(cut))
            padding = Characters(pa.repeat(fill, len(texts))).slice(0, missing)
            parts = (padding, cut) if left else (cut, padding)
            return pc.binary_join_element_wise(*parts, "")

        return kernel

    return make


def split_part(texts: pa.Array, separator: str, numbers: pa.Array) -> pa.Array:
    """One part per text, by its number from 1, or from -1 at the end; empty if there is no such
    part, NULL for number 0.
    """
    flat, start, end = _parts(texts, separator)
    part = values_of(numbers)
    index = np.where(part > 0, start + part - 1, end + part)
    exists = (part != 0) & (index >= start) & (index < end)
    found = flat.take(pa.array(index, mask=~exists)).fill_null("")
    return _valid(null_where_not(pc.not_equal(numbers, 0), found), texts)


def _parts(texts: pa.Array, separator: str) -> tuple[pa.Array, Any, Any]:
    """The parts of all texts, and for each text where its own begin and end; NULL has one part."""
    present = texts.fill_null("")
    if separator:
        parts = pc.split_pattern(present, separator)
        bounds, flat = values_of(parts.offsets).astype(np.int64), parts.values
    else:
        bounds, flat = np.arange(len(texts) + 1), present
    return flat, bounds[:-1], bounds[1:]


def _make_split_part(call: Call) -> Kernel:
    separator = argument_constant(call, 1)

    def kernel(text: Datum, _: Datum, number: Datum) -> pa.Array:
        texts, numbers = as_arrays(text, number)
        return split_part(texts, separator, numbers)

    return kernel


def _make_split_index(call: Call) -> Kernel:
    separator = argument_constant(call, 1)

    def kernel(text: Datum, _: Datum, index: Datum) -> pa.Array:
        texts, indices = as_arrays(text, index)
        flat, start, end = _parts(texts, separator)
        part = values_of(indices)
        exists = (part >= 0) & (part < end - start) & (values_of(pc.binary_length(texts)) > 0)
        return _valid(flat.take(pa.array(start + part, mask=~exists)), texts, indices)

    return kernel


def _concat(*texts: Datum) -> pa.Array:
    return pc.binary_join_element_wise(*texts, "")


def _concat_ws(separator: Datum, *texts: Datum) -> pa.Array:
    """Joins the texts, each with the separator before it, and removes the first separator.

    Arrow's option to skip NULLs drops rows in which all texts are NULL.
    """
    between, *arrays = as_arrays(separator, *texts)
    led = [pc.binary_join_element_wise(between, text, "").fill_null("") for text in arrays]
    joined = Characters(pc.binary_join_element_wise(*led, ""))
    return _valid(joined.slice(values_of(pc.utf8_length(between)), FAR), between)


def _make_with_pattern(function: Any, **options: Any) -> Maker:
    """Kernels of Arrow whose second argument is a constant pattern."""

    def make(call: Call) -> Kernel:
        pattern = argument_constant(call, 1)
        return lambda texts, _: function(texts, pattern=pattern, **options)

    return make


def _make_like(call: Call) -> Kernel:
    """LIKE, whose escape is a backslash before ``%``, ``_`` and backslash.

    Arrow's fast paths for prefixes, suffixes and substrings take an escaped backslash for two
    characters; so patterns with one become regular expressions here.
    """
    pattern = argument_constant(call, 1)
    if r"\\" not in pattern:
        return lambda texts, _: pc.match_like(texts, pattern=pattern)
    wild = {"%": ".*", "_": "."}
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    regex = "".join(wild.get(part) or re.escape(part[-1]) for part in parts)
    whole = rf"\A(?s:{regex})\z"
    return lambda texts, _: pc.match_substring_regex(texts, pattern=whole)


def _make_ilike(call: Call) -> Kernel:
    """LIKE of texts in lower case; the pattern is in lower case already."""
    like = _make_like(call)
    return lambda texts, pattern: like(lower(texts), pattern)


def _make_replace(function: Any) -> Maker:
    def make(call: Call) -> Kernel:
        part, by = argument_constant(call, 1), argument_constant(call, 2)
        if function is pc.replace_substring and not part:
            return lambda texts, *_: texts  # an empty pattern matches nothing
        return lambda texts, *_: function(texts, pattern=part, replacement=by)

    return make


def _make_instr(call: Call) -> Kernel:
    part = argument_constant(call, 1)

    def kernel(texts: pa.Array, _: Datum) -> pa.Array:
        found_at = values_of(pc.find_substring(texts, pattern=part), fill=-1).astype(np.int64)
        return _valid(pa.array(Characters(texts).position_of_byte(found_at)), texts)

    return kernel


def _make_extract(call: Call) -> Kernel:
    pattern = argument_constant(call, 1)

    def kernel(texts: pa.Array, _: Datum) -> pa.Array:
        found = pc.struct_field(pc.extract_regex(texts, pattern), "found").fill_null("")
        return _valid(found, texts)

    return kernel


def _make_translate(call: Call) -> Kernel:
    characters, others = argument_constant(call, 1), argument_constant(call, 2)
    return lambda texts, *_: translate(texts, characters, others)


def _make_count(call: Call) -> Kernel:
    pattern = argument_constant(call, 1)
    return lambda texts, _: pc.count_substring_regex(texts, pattern=pattern).cast(pa.int32())


TEXT_KERNELS: Final[dict[str, Maker]] = {
    "lower": always(lower),
    "upper": always(upper),
    "reverse": always(pc.utf8_reverse),
    "initcap": always(initcap),
    "length": always(pc.utf8_length),
    "ascii": always(_ascii),
    "substring": _make_substring,
    "left": always(_left),
    "right": always(_right),
    "split_part": _make_split_part,
    "split_index": _make_split_index,
    "trim": _make_trim(pc.utf8_trim),
    "ltrim": _make_trim(pc.utf8_ltrim),
    "rtrim": _make_trim(pc.utf8_rtrim),
    "lpad": _make_pad(left=True),
    "rpad": _make_pad(left=False),
    "replace": _make_replace(pc.replace_substring),
    "translate": _make_translate,
    "concat": always(_concat),
    "concat_ws": always(_concat_ws),
    "startswith": _make_with_pattern(pc.starts_with),
    "endswith": _make_with_pattern(pc.ends_with),
    "contains": _make_with_pattern(pc.match_substring),
    "instr": make_instr(_make_instr),
    "like": _make_like,
    "ilike": _make_ilike,
    "rlike": _make_with_pattern(pc.match_substring_regex),
    "regexp_count": _make_count,
    "regexp_replace": _make_replace(pc.replace_substring_regex),
    "regexp_extract": _make_extract,
}
