"""Functions of Spark and Flink that are short for expressions over others."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import cast, implicit, is_number, kind, literal
from eddyline.algebra.functions.registry import TypingRule, define, resolve
from eddyline.algebra.functions.strings import constant
from eddyline.errors import SqlError
from eddyline.types import TIMESTAMP

_INT, _BIGINT, _TEXT = pa.int32(), pa.int64(), pa.string()
_CASTS: Final = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": _INT,
    "bigint": _BIGINT,
    "float": pa.float32(),
    "double": pa.float64(),
    "string": _TEXT,
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": TIMESTAMP,
}


def _to(type_: pa.DataType) -> TypingRule:
    return lambda args: cast(args[0], type_) if len(args) == 1 else None


for _name, _type in _CASTS.items():
    define("Conversion", _name, f"{_name}(value)", f"CAST(value AS {_name.upper()}).", _to(_type))


@define("Arithmetic", "positive", "positive(number)", "The number.")
def _positive(args: tuple[Expr, ...]) -> Expr | None:
    return args[0] if len(args) == 1 and is_number(args[0].type) else None


@define(
    "Numbers", "factorial", "factorial(number)", "The factorial of an INT up to 20; NULL of others."
)
def _factorial(args: tuple[Expr, ...]) -> Expr | None:
    number = implicit(args[0], _INT) if len(args) == 1 else None
    return number and Call(_BIGINT, "factorial", (number,))


@define(
    "Bits",
    "shiftrightunsigned",
    "shiftrightunsigned(integer, bits)",
    "The bits moved to the right, with zeros on the left.",
)
def _shift_right_unsigned(args: tuple[Expr, ...]) -> Expr | None:
    signed = resolve(">>", args)
    return Call(signed.type, "shiftrightunsigned", signed.args)


@define(
    "Bits", "getbit bit_get", "getbit(integer, place)", "The bit at a place, a constant from 0."
)
def _getbit(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2 or any(kind(a.type) != "integer" for a in args):
        return None
    number, place = args
    last = args[0].type.bit_width - 1
    if not isinstance(place, Literal) or not 0 <= (place.value or 0) <= last:
        raise SqlError(f"the place of getbit is a constant from 0 to {last}, not {place}")
    return cast(resolve("&", (resolve(">>", args), literal(1, number.type))), pa.int8())


@define(
    "Conditional",
    "elt",
    "elt(number, value, ...)",
    "The value of a number, from 1; fails for other numbers.",
)
def _elt(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) < 2 or kind(args[0].type) != "integer":
        return None
    place = resolve("-", (cast(args[0], _INT), literal(1, _INT)))
    return resolve("element", (resolve("array", args[1:]), place))


@define(
    "Text",
    "find_in_set",
    "find_in_set(text, list)",
    "The place of a text among those that commas divide, from 1; 0 if there is none.",
)
def _find_in_set(args: tuple[Expr, ...]) -> Expr | None:
    texts = [implicit(a, _TEXT) for a in args]
    if len(texts) != 2 or texts[0] is None or texts[1] is None:
        return None
    comma = literal(",", _TEXT)
    found = resolve("array_position", (resolve("split", (texts[1], comma)), texts[0]))
    divided = resolve("contains", (texts[0], comma))
    return cast(resolve("if", (divided, literal(0, _INT), cast(found, _INT))), _INT)


@define(
    "Text",
    "regexp_instr",
    "regexp_instr(text, pattern)",
    "The place of the first character that a pattern, a constant, matches, from 1; 0 if it matches "
    "none.",
)
def _regexp_instr(args: tuple[Expr, ...]) -> Expr | None:
    text = implicit(args[0], _TEXT) if len(args) == 2 else None
    if text is None:
        return None
    pattern = constant("regexp_instr", args[1])
    if pattern is None:
        return Literal(_INT, None)
    ahead = literal(rf"^([\s\S]*?)(?:{pattern})", _TEXT)
    length = resolve("length", (resolve("regexp_extract", (text, ahead, literal(1, _INT))),))
    place = resolve("+", (length, literal(1, _INT)))
    matches = resolve("rlike", (text, literal(pattern, _TEXT)))
    found = resolve("if", (matches, place, literal(0, _INT)))
    known = resolve("is_null", (text,))
    return resolve("if", (known, Literal(_INT, None), found))


@define(
    "Dates and times",
    "to_timestamp_ltz",
    ["to_timestamp_ltz(number, 0)", "to_timestamp_ltz(number, 3)", "to_timestamp_ltz(text)"],
    "The timestamp this number of seconds (0) or milliseconds (3) after the epoch, as in Flink; of "
    "a text as to_timestamp.",
)
def _to_timestamp_ltz(args: tuple[Expr, ...]) -> Expr | None:
    if not args or kind(args[0].type) != "integer":
        return resolve("to_timestamp", args)
    digits = args[1] if len(args) == 2 else literal(3, _INT)
    if len(args) > 2 or not isinstance(digits, Literal) or digits.value not in (0, 3):
        raise SqlError(
            "to_timestamp_ltz of a number takes 0 for seconds, 3 for milliseconds; write "
            "timestamp_micros(n) for microseconds"
        )
    return resolve("timestamp_millis" if digits.value else "timestamp_seconds", args[:1])
