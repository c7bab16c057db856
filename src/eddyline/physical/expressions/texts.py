"""Kernels of texts that have parts, that are searched for each other, or that are compared."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.expressions import Call, Literal
from eddyline.kernels import texts as kernels
from eddyline.physical.expressions.characters import Characters
from eddyline.physical.expressions.data import Datum, as_arrays, null_where_not, values_of
from eddyline.physical.expressions.evaluation import Evaluation, without
from eddyline.physical.expressions.kernel import Kernel, Maker, always, argument_constant
from eddyline.runtime.stores.columns import text_buffers

#: Characters that texts rarely have: the first that no text of a column has divides its matches.
_DIVIDERS: Final = ("\x1f", "\x1e", "\x1d", "\x1c", *map(chr, range(0xE000, 0xE100)))
#: What stands before the authority of an address, and the authority.
_SCHEME: Final = r"^(?:[A-Za-z][A-Za-z0-9+.\-]*:)?"
_AUTHORITY: Final = rf"{_SCHEME}//"
_PATH: Final = rf"{_SCHEME}(?://[^/?#]*)?"
#: By part of an address, the pattern whose group ``found`` it is.
_URL_PARTS: Final = {
    "PROTOCOL": r"^(?P<found>[A-Za-z][A-Za-z0-9+.\-]*):",
    "HOST": rf"{_AUTHORITY}(?:[^/?#@]*@)?"
    r"(?P<found>[A-Za-z0-9](?:[A-Za-z0-9.\-]*[A-Za-z0-9])?\.?|\[[0-9A-Fa-f:.]+\])(?::\d*)?(?:[/?#]|$)",
    "PATH": rf"{_PATH}(?P<found>[^?#]*)",
    "QUERY": r"^[^?#]*\?(?P<found>[^#]*)",
    "REF": r"#(?P<found>[\s\S]*)$",
    "AUTHORITY": rf"{_AUTHORITY}(?P<found>[^/?#]+)",
    "FILE": rf"{_PATH}(?P<found>[^#]*)",
    "USERINFO": rf"{_AUTHORITY}(?P<found>[^/?#@]*)@",
}
#: Addresses whose path is not one of directories: mailto:name.
_OPAQUE: Final = r"^[A-Za-z][A-Za-z0-9+.\-]*:[^/]"
_HAS_HIERARCHY: Final = ("PATH", "FILE", "QUERY")
#: What no address is: characters of ASCII, and percent signs, that must be written otherwise; and a
#: beginning that is none.
_NO_URL: Final = (
    r"[\x00-\x20\"<>\\^`{|}\x7f]|%(?:$|[^0-9A-Fa-f]|[0-9A-Fa-f](?:$|[^0-9A-Fa-f]))|^:|"
    r"^[A-Za-z][A-Za-z0-9+.\-]*:(?:#|$)|#[^#]*#"
)


def _instr(text: Datum, part: Datum) -> pa.Array:
    """The place of one text in the other one, in characters from 1."""
    texts, parts = as_arrays(text, part)
    at = kernels.found_at(*text_buffers(texts), *text_buffers(parts))
    known = pc.and_(texts.is_valid(), parts.is_valid())
    return null_where_not(known, pa.array(Characters(texts).position_of_byte(at)))


def make_instr(constant: Maker) -> Maker:
    """The kernel of instr; of a constant part that of ``constant``. A column may have become NULL,
    as in rows without a match of an outer join.
    """

    def make(call: Call) -> Kernel:
        part = call.args[1]
        return constant(call) if isinstance(part, Literal) and not part.is_null else _instr

    return make


def _levenshtein(text: Datum, other: Datum) -> pa.Array:
    texts, others = as_arrays(text, other)
    found = kernels.edit_distances(*text_buffers(texts), *text_buffers(others))
    return null_where_not(pc.and_(texts.is_valid(), others.is_valid()), pa.array(found))


def _make_extract_all(call: Call) -> Kernel:
    """Each match is replaced by its group between two dividers, by which the text is split then:
    every second part is one.
    """
    pattern = argument_constant(call, 1)

    def kernel(texts: pa.Array, _: Datum) -> pa.Array:
        present = texts.fill_null("")
        divider = _divider(present)
        marked = pc.replace_substring_regex(present, pattern, rf"{divider}\1{divider}")
        parts = pc.split_pattern(marked, divider)
        offsets = values_of(parts.offsets).astype(np.int64)
        counts = (np.diff(offsets) - 1) // 2
        ends = np.concatenate(([0], np.cumsum(counts)))
        within = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
        places = np.repeat(offsets[:-1], counts) + 2 * within + 1
        found = parts.values.take(pa.array(places))
        return _lists(ends, found, texts)

    return kernel


def _divider(texts: pa.Array) -> str:
    for divider in _DIVIDERS:
        if not pc.any(pc.match_substring(texts, divider)).as_py():
            return divider
    raise AssertionError("texts have all characters that are kept for use in a program")


def _lists(ends: np.ndarray, values: pa.Array, like: pa.Array) -> pa.Array:
    """Lists that end at these places; NULL where another array is."""
    valid = np.asarray(like.is_valid())
    mask = pa.array(~valid) if not valid.all() else None
    return pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), values, mask=mask)


def _make_string_to_array(call: Call) -> Kernel:
    separator = argument_constant(call, 1)

    def kernel(texts: pa.Array, _: Datum) -> pa.Array:
        parts = pc.split_pattern(texts, separator)
        empty = pc.equal(pc.binary_length(texts), 0)
        nothing = pa.scalar([], parts.type)
        return pc.if_else(pc.fill_null(empty, False), nothing, parts)

    return kernel


def _make_parse_url(call: Call) -> Kernel:
    part = argument_constant(call, 1)
    key = argument_constant(call, 2) if len(call.args) == 3 else None

    def kernel(evaluation: Evaluation, texts: pa.Array, *_: Datum) -> pa.Array:
        result = _url_part(texts, part)
        if key is not None:
            result = _group(result, rf"(?:^|&){re.escape(key)}=(?P<found>[^&]*)")
        bad = pc.fill_null(pc.match_substring_regex(texts, _NO_URL), False)
        if not bad.true_count:
            return result
        return without(evaluation, bad, result, "parse_url: ", texts, " is no address")

    return kernel


def _url_part(texts: pa.Array, part: str) -> pa.Array:
    found = _group(texts, _URL_PARTS[part])
    if part not in _HAS_HIERARCHY:
        return found
    opaque = pc.fill_null(pc.match_substring_regex(texts, _OPAQUE), False)
    return null_where_not(pc.invert(opaque), found)


def _group(texts: pa.Array, pattern: str) -> pa.Array:
    """The group ``found`` of the first match; NULL without one."""
    return pc.struct_field(pc.extract_regex(texts, pattern), "found")


TEXTS_KERNELS: Final[dict[str, Maker]] = {
    "levenshtein": always(_levenshtein),
    "regexp_extract_all": _make_extract_all,
    "string_to_array": _make_string_to_array,
}
FALLIBLE_TEXTS: Final[dict[str, Maker]] = {"parse_url": _make_parse_url}
