"""Functions of text. Positions count characters from 1."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import cast, kind
from eddyline.algebra.functions.registry import define, define_plain, resolve, takes
from eddyline.errors import SqlError

_FAMILY = "Text"
_STRING, _INT, _BIGINT, _BOOL = pa.string(), pa.int32(), pa.int64(), pa.bool_()

#: Maximum number of characters of the results of lpad, rpad, repeat and space: a chunk of rows with
#: such texts fits one Arrow array.
LONGEST_TEXT = 65_536

for _names, _help in {
    "lower lcase": "In lower case.",
    "upper ucase": "In upper case.",
    "initcap": "First letter of each word in upper case, the others in lower case.",
}.items():
    _name = _names.split()[0]
    define(_FAMILY, _names, f"{_name}(text)", _help, takes(_name, (_STRING,), _STRING))


@define(
    _FAMILY,
    "reverse",
    ["reverse(text)", "reverse(list)"],
    "The characters, or the elements, in reverse order.",
)
def _reverse(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) == 1 and pt.is_list(args[0].type):
        return Call(args[0].type, "array_reverse", args)
    return takes("reverse", (_STRING,), _STRING)(args)


define_plain(
    _FAMILY,
    "length(text)",
    (_STRING,),
    _INT,
    "Number of characters.",
    aliases="len char_length character_length",
)
define_plain(
    _FAMILY, "ascii(text)", (_STRING,), _INT, "Code point of the first character; 0 of empty text."
)


@define(
    _FAMILY,
    "repeat",
    "repeat(text, times)",
    f"The text repeated; the result has {LONGEST_TEXT} characters at most.",
)
def _repeat(args: tuple[Expr, ...]) -> Expr | None:
    call = takes("repeat", (_STRING, _BIGINT), _STRING)(args)
    if call is not None:
        text, times = (a.value if isinstance(a, Literal) else None for a in call.args)
        _check_length("repeat", (1 if text is None else len(text)) * (times or 0))
    return call


def _check_length(name: str, length: int) -> None:
    """Refuse constants with too long results."""
    if length > LONGEST_TEXT:
        raise SqlError(
            f"{name} would make a text of {length} characters; the maximum is {LONGEST_TEXT}"
        )


define_plain(_FAMILY, "left(text, count)", (_STRING, _BIGINT), _STRING, "The first characters.")
define_plain(_FAMILY, "right(text, count)", (_STRING, _BIGINT), _STRING, "The last characters.")
define(
    _FAMILY,
    "substring substr",
    ["substring(text, position)", "substring(text, position, length)"],
    "Part of the text; a negative position counts from the end.",
    takes("substring", (_STRING, _BIGINT, _BIGINT), _STRING, optional=1),
)
define(
    _FAMILY,
    "split_part",
    "split_part(text, separator, number)",
    "One of the parts between separators; a negative number counts from the end; "
    "empty if there is no such part. The separator is a constant.",
    lambda args: with_constants("split_part", args, (_STRING, _STRING, _BIGINT), _STRING, (1,)),
)
define(
    _FAMILY,
    "split_index",
    "split_index(text, separator, index)",
    "As in Flink: one of the parts between separators, counted from 0; "
    "NULL if there is no such part, as in an empty text. The separator is a constant.",
    lambda args: with_constants("split_index", args, (_STRING, _STRING, _BIGINT), _STRING, (1,)),
)


def _edge(names: str, side: str, help_: str) -> None:
    name = names.split()[0]

    def rule(args: tuple[Expr, ...]) -> Expr | None:
        call = takes(name, (_STRING, _STRING), _BOOL)(args)
        if call is None:
            return None
        if isinstance(call.args[1], Literal):
            return call if call.args[1].value is not None else Literal(_BOOL, None)
        text, other = call.args  # Arrow's kernel needs a constant: compare the substring
        size = cast(Call(_INT, "length", (other,)), _BIGINT)
        return Call(_BOOL, "=", (Call(_STRING, side, (text, size)), other))

    define(_FAMILY, names, f"{name}(text, other)", help_, rule)


_edge("startswith starts_with", "left", "Whether the text begins with the other.")
_edge("endswith ends_with", "right", "Whether the text ends with the other.")


@define(_FAMILY, "contains", "contains(text, part)", "Whether the text contains the part.")
def _contains(args: tuple[Expr, ...]) -> Expr | None:
    call = takes("contains", (_STRING, _STRING), _BOOL)(args)
    if call is None or isinstance(call.args[1], Literal):
        return with_constants("contains", args, (_STRING, _STRING), _BOOL, (1,))
    return resolve(">", (Call(_INT, "instr", call.args), Literal(_INT, 0)))


def _instr(args: tuple[Expr, ...]) -> Expr | None:
    call = takes("instr", (_STRING, _STRING), _INT)(args)
    if call is None or isinstance(call.args[1], Literal):
        return with_constants("instr", args, (_STRING, _STRING), _INT, (1,))
    return call


define(
    _FAMILY,
    "instr strpos",
    "instr(text, part)",
    "Position of the part in the text; 0 if not there.",
    _instr,
)


@define(
    _FAMILY,
    "position locate charindex",
    ["position(part IN text)", "position(part, text)", "position(part, text, start)"],
    "Position of the part in the text, from a start on; 0 if not there.",
)
def _position(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 3:
        return _instr(args[::-1])
    part, text, start = args
    rest = _instr((resolve("substring", (text, start)), part))
    if rest is None:
        return None
    one, zero = Literal(_INT, 1), Literal(_INT, 0)
    place = resolve("-", (resolve("+", (rest, cast(start, _INT))), one))
    empty = resolve("=", (resolve("length", (part,)), zero))
    found = resolve("case", (empty, one, resolve(">", (rest, zero)), place, rest))
    unknown = resolve("or", tuple(resolve("is_null", (a,)) for a in (part, text)))
    early = resolve("<", (start, one))
    nowhere, nothing = resolve("is_null", (start,)), Literal(_INT, None)
    return resolve("case", (nowhere, zero, unknown, nothing, early, zero, found))


def _trimmed(name: str, help_: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        return _trim(name, args[::-1])  # SQL has the characters first

    define(_FAMILY, name, [f"{name}(text)", f"{name}(characters, text)"], help_, rule)


def _trim(name: str, args: tuple[Expr, ...]) -> Expr | None:
    if len(args) == 1:
        return takes(name, (_STRING,), _STRING)(args)
    return with_constants(name, args, (_STRING, _STRING), _STRING, (1,))


_trimmed("trim", "Without blanks (or the given characters, a constant) at both ends.")
_trimmed("ltrim", "Without blanks (or the given characters, a constant) at the start.")
_trimmed("rtrim", "Without blanks (or the given characters, a constant) at the end.")
define(
    _FAMILY,
    "btrim",
    ["btrim(text)", "btrim(text, characters)"],
    "As trim, with the text first.",
    lambda args: _trim("trim", args),
)


def _padded(name: str, side: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        if len(args) == 2:
            args = (*args, Literal(_STRING, " "))
        call = with_constants(name, args, (_STRING, _BIGINT, _STRING), _STRING, (1, 2))
        if isinstance(call, Call):
            _check_length(name, constant(name, call.args[1]))
        return call

    define(
        _FAMILY,
        name,
        [f"{name}(text, length)", f"{name}(text, length, filler)"],
        f"Filled up on the {side}, or cut, to a length; length and filler are constants.",
        rule,
    )


_padded("lpad", "left")
_padded("rpad", "right")

define(
    _FAMILY,
    "replace",
    ["replace(text, part, by)", "replace(text, part)"],
    "Every occurrence of the part replaced, or left out; part and replacement are constants.",
    lambda args: with_constants(
        "replace",
        (*args, Literal(_STRING, "")) if len(args) == 2 else args,
        (_STRING,) * 3,
        _STRING,
        (1, 2),
    ),
)


@define(
    _FAMILY,
    "translate",
    "translate(text, from, to)",
    "Each character of from replaced by that of to at its place, or left out without one; from and "
    "to are constants.",
)
def _translate(args: tuple[Expr, ...]) -> Expr | None:
    return with_constants("translate", args, (_STRING,) * 3, _STRING, (1, 2))


@define(
    _FAMILY,
    "overlay",
    ["overlay(text PLACING by FROM position [FOR length])", "overlay(text, by, position, length)"],
    "The text with a part replaced, by default as long as the other text.",
)
def _overlay(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) not in (3, 4) or not all(kind(a.type) in ("string", "null") for a in args[:2]):
        return None
    text, by, position = args[:3]
    own_length = resolve("length", (by,))
    length = own_length
    if len(args) == 4:
        given = resolve(">=", (args[3], Literal(_INT, 0)))
        length = resolve("if", (given, args[3], own_length))
    before = resolve("-", (position, Literal(_INT, 1)))
    head = resolve("substring", (text, Literal(_BIGINT, 1), before))
    return resolve(
        "concat", (head, by, resolve("substring", (text, resolve("+", (position, length)))))
    )


@define(
    _FAMILY,
    "concat ||",
    ["concat(value, ...)", "value || value", "concat(list, ...)", "list || list"],
    "All values as text, joined; or the elements of all lists in one list; NULL if any is NULL.",
)
def _concat(args: tuple[Expr, ...]) -> Expr | None:
    if any(pt.is_list(a.type) for a in args):
        return resolve("flatten", (resolve("array", args),))
    # flattened: (a || b) || c is a || b || c
    texts = [t for a in args for t in _joined(_as_text(a))]
    if not texts:
        return None
    return texts[0] if len(texts) == 1 else Call(_STRING, "concat", tuple(texts))


def _joined(text: Expr) -> tuple[Expr, ...]:
    """The operands of a concat; else the text itself."""
    return text.args if isinstance(text, Call) and text.function == "concat" else (text,)


@define(
    _FAMILY,
    "concat_ws",
    "concat_ws(separator, value, ...)",
    "The values that are not NULL as text, joined with a separator.",
)
def _concat_ws(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) < 2 or kind(args[0].type) not in ("string", "null"):
        return None
    return Call(_STRING, "concat_ws", tuple(_as_text(a) for a in args))


def _as_text(expr: Expr) -> Expr:
    return cast(expr, _STRING)


def with_constants(
    name: str,
    args: tuple[Expr, ...],
    parameters: tuple[pa.DataType, ...],
    result: pa.DataType,
    constants: tuple[int, ...],
) -> Expr | None:
    """As ``takes``, where some arguments must be constants because Arrow's kernels need them.

    A NULL constant makes the call NULL.
    """
    call = takes(name, parameters, result)(args)
    if call is None:
        return None
    values = [constant(name, call.args[place]) for place in constants]
    return Literal(result, None) if None in values else call


def constant(name: str, expr: Expr) -> Any:
    """The value of an argument that must be a constant (None for NULL)."""
    if not isinstance(expr, Literal):
        words = "pattern" if pt.is_string(expr.type) else "argument"
        raise SqlError(f"{name} needs a constant here, not the {words} {expr}")
    return expr.value
