"""Constants of SQL text as typed literals."""

from __future__ import annotations

from math import isinf
from typing import Final

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra.expressions import Literal
from eddyline.algebra.slots import Slot
from eddyline.errors import SqlError
from eddyline.sql.numbers import shortened, whole_number

#: The key in the meta data of a node, of the Origin of a constant that becomes a slot.
ORIGIN: Final = "origin"
_INT, _BIGINT, _DOUBLE, _STRING = pa.int32(), pa.int64(), pa.float64(), pa.string()
_INT32_LIMIT: Final = 1 << 31
_INT64_LIMIT: Final = 1 << 63


def constant(node: exp.Literal) -> Literal:
    """A string, an INT or BIGINT, or (with a point or exponent) a DOUBLE.

    Raises:
        SqlError: the number does not fit BIGINT or DOUBLE; without a position.
    """
    made = constant_of(node.name, is_text=node.is_string)
    return Slot(made, node.meta[ORIGIN]) if ORIGIN in node.meta else made


def constant_of(word: str, *, is_text: bool) -> Literal:
    """As :func:`constant`, of a text or of the digits of a number."""
    if is_text:
        return Literal(_STRING, word)
    if not word.isdigit():
        number = float(word)
        if isinf(number):
            raise SqlError(f"{shortened(word)} does not fit DOUBLE, whose maximum is 1.8e308")
        return Literal(_DOUBLE, number)
    value = whole_number(word, _INT64_LIMIT)
    if value is None:
        shown = shortened(word)
        raise SqlError(f"{shown} does not fit BIGINT; for a DOUBLE write a point behind it")
    return Literal(_INT if value < _INT32_LIMIT else _BIGINT, value)
