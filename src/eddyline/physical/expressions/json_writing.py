"""``to_json``: structures, lists and maps as JSON, as Spark writes it.

Fields that are NULL are left out, elements and values of maps are null.
"""

from __future__ import annotations

import json
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.functions.conversion import convert
from eddyline.algebra.list_parts import list_parts
from eddyline.physical.expressions.data import null_where_not
from eddyline.physical.expressions.kernel import Maker, always
from eddyline.types import is_list

_SHORT: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SHORT_TOO: Final = {"\b": "\\b", "\f": "\\f"}
_OTHERS: Final = [chr(c) for c in range(32) if chr(c) not in {*_SHORT, *_SHORT_TOO}]


def _json(values: pa.Array) -> pa.Array:
    """The values as JSON, NULL where they are."""
    type_ = values.type
    if pt.is_struct(type_):
        return null_where_not(values.is_valid(), _object(values))
    if is_list(type_):
        offsets, elements = list_parts(values)
        if pt.is_map(type_):
            keys = _quoted(_key(elements.field(0)))
            items = pc.fill_null(_json(elements.field(1)), "null")
            texts, ends = pc.binary_join_element_wise(keys, items, ":"), "{}"
        else:
            texts, ends = pc.fill_null(_json(elements), "null"), "[]"
        lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), texts)
        return null_where_not(values.is_valid(), _between(ends, pc.binary_join(lists, ",")))
    if pt.is_floating(type_):
        text = convert(values, pa.string())
        return pc.if_else(pc.is_finite(values), text, _quoted(text))
    if pt.is_timestamp(type_):
        return _quoted(
            pc.strftime(
                pc.floor_temporal(values, unit="millisecond").cast(pa.timestamp("ms", "UTC")),
                "%Y-%m-%dT%H:%M:%SZ",
            )
        )
    text = convert(values, pa.string())
    is_plain = pt.is_integer(type_) or pt.is_decimal(type_) or pt.is_boolean(type_)
    return text if is_plain else _quoted(text)


def _object(values: pa.Array) -> pa.Array:
    """Each member begins with a comma, of which the first is cut."""
    members = []
    for i, field in enumerate(values.type):
        name = json.dumps(field.name, ensure_ascii=False)
        member = pc.binary_join_element_wise(f",{name}:", _json(values.field(i)), "")
        members.append(pc.fill_null(member, ""))
    return _between("{}", pc.utf8_slice_codeunits(pc.binary_join_element_wise(*members, ""), 1))


def _between(ends: str, inner: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(ends[0], inner, ends[1], "")


def _key(values: pa.Array) -> pa.Array:
    return convert(values, pa.string())


def _quoted(texts: pa.Array) -> pa.Array:
    """In quotes, with what JSON escapes."""
    for character, escaped in _SHORT.items():
        texts = pc.replace_substring(texts, character, escaped)
    if pc.any(pc.match_substring_regex(texts, "[\\x00-\\x1f]")).as_py():
        for character, escaped in _SHORT_TOO.items():
            texts = pc.replace_substring(texts, character, escaped)
        for character in _OTHERS:
            texts = pc.replace_substring(texts, character, f"\\u{ord(character):04X}")
    return _between('""', texts)


JSON_WRITING_KERNELS: Final[dict[str, Maker]] = {"to_json": always(_json)}
