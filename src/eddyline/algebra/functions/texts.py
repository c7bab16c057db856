"""Functions of texts that have parts, that are searched for each other, or that are compared."""

from __future__ import annotations

import re
from typing import Final

import pyarrow as pa

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import cast, implicit, kind, literal
from eddyline.algebra.functions.registry import FUNCTIONS, define, resolve, takes
from eddyline.algebra.functions.strings import constant, with_constants
from eddyline.algebra.functions.text_patterns import check_not_empty, check_regex, only_group
from eddyline.algebra.functions.tolerant import tolerated
from eddyline.errors import SqlError, did_you_mean

_STRING, _INT, _BIGINT, _BYTES = pa.string(), pa.int32(), pa.int64(), pa.binary()
_TEXTS: Final = pa.list_(_STRING)
#: Parts of an address.
URL_PARTS: Final = (*("PROTOCOL", "HOST", "PATH", "QUERY", "REF", "AUTHORITY", "FILE", "USERINFO"),)
#: Classes of characters for mask: capital letters, small ones, digits.
_CLASSES: Final = (r"\p{Lu}", r"\p{Ll}", r"\p{Nd}")
_MASKS: Final = ("X", "x", "n", None)


@define(
    "Patterns",
    "regexp_extract_all",
    ["regexp_extract_all(text, pattern)", "regexp_extract_all(text, pattern, group)"],
    "The list of a group (default 1; 0 is all) of each match of the regular expression, which does "
    "not match the empty text.",
)
def _regexp_extract_all(args: tuple[Expr, ...]) -> Expr | None:
    name = "regexp_extract_all"
    if len(args) == 2:
        args = (*args, Literal(_BIGINT, 1))
    call = with_constants(name, args, (_STRING, _STRING, _BIGINT), _TEXTS, (1, 2))
    if not isinstance(call, Call):
        return call
    text, pattern, group = call.args
    check_regex(pattern)
    check_not_empty(name, pattern)
    single = only_group(constant(name, pattern), constant(name, group))
    return Call(_TEXTS, name, (text, Literal(_STRING, single)))


@define(
    "Text",
    "string_to_array",
    "string_to_array(text, separator)",
    "As in PostgreSQL: the list of the parts between separators, a constant; of an empty text an "
    "empty list.",
)
def _string_to_array(args: tuple[Expr, ...]) -> Expr | None:
    name = "string_to_array"
    call = with_constants(name, args, (_STRING, _STRING), _TEXTS, (1,))
    if isinstance(call, Call) and not constant(name, call.args[1]):
        raise SqlError(f"the separator of {name} is not empty")
    return call


@define(
    "Text",
    "mask",
    ["mask(text)", "mask(text, capital, small, digit)", "mask(text, capital, small, digit, other)"],
    "The text with X for capital letters, x for small ones, n for digits, or other characters, "
    "which are constants and neither letters nor digits; NULL leaves characters as they are.",
)
def _mask(args: tuple[Expr, ...]) -> Expr | None:
    text = implicit(args[0], _STRING) if 1 <= len(args) <= 5 else None
    if text is None:
        return None
    masks = [constant("mask", a) for a in args[1:]]
    by = [*masks, *_MASKS[len(masks) :]]
    for given, default in zip(by, _MASKS, strict=True):
        if given is not None and given != default and (len(given) != 1 or given.isalnum()):
            raise SqlError(f"mask takes single characters, no letters and no digits, not '{given}'")
    classes = (f"[^{''.join(_CLASSES)}]", *_CLASSES)
    for class_, given in zip(classes, (by[3], *by[:3]), strict=True):
        if given is not None:
            pattern = literal(class_, _STRING)
            text = resolve("regexp_replace", (text, pattern, literal(_plain(given), _STRING)))
    return text


def _plain(text: str) -> str:
    """A text as a replacement that stands for itself."""
    return re.sub(r"[\\$]", r"\\\g<0>", text)


@define(
    "Text",
    "levenshtein",
    ["levenshtein(text, text)", "levenshtein(text, text, most)"],
    "How many characters have to be inserted, left out or replaced to make one text of the other; "
    "-1 if these are more than a third argument says.",
)
def _levenshtein(args: tuple[Expr, ...]) -> Expr | None:
    found = takes("levenshtein", (_STRING, _STRING), _INT)(args[:2])
    if found is None or len(args) < 3:
        return found
    most = implicit(args[2], _INT) if len(args) == 3 else None
    if most is None:
        return None
    enough = resolve("<=", (found, most))
    return resolve("case", (enough, found, resolve("is_not_null", (enough,)), literal(-1, _INT)))


@define(
    "Text",
    "format_string printf",
    "format_string(format, value, ...)",
    "The format, a constant, with the values as texts in the places of %s, or, of integers, %d; %% "
    "is a percent sign.",
)
def _format_string(args: tuple[Expr, ...]) -> Expr | None:
    if not args or kind(args[0].type) != "string":
        return None
    given = constant("format_string", args[0])
    if given is None:
        return Literal(_STRING, None)
    values = iter(args[1:])
    parts: list[Expr] = []
    for token in re.findall(r"%[^%a-zA-Z]*[%a-zA-Z]?|[^%]+", given):
        if token[0] != "%" or token == "%%":
            parts.append(literal("%" if token == "%%" else token, _STRING))
            continue
        value = next(values, None)
        if value is None:
            raise SqlError(f"the format '{given}' has more places than there are values")
        parts.append(_formatted(token, value))
    if next(values, None) is not None:
        raise SqlError(f"the format '{given}' has fewer places than there are values")
    return resolve("concat", tuple(parts)) if parts else literal("", _STRING)


def _formatted(place: str, value: Expr) -> Expr:
    kinds = {"%d": ("integer", "null"), "%s": ("integer", "string", "bool", "null")}
    if place not in kinds:
        raise SqlError(
            f"format_string has the places %s and %d, not {place}; write lpad, round, or CAST to "
            "DECIMAL for the value in front"
        )
    if kind(value.type) not in kinds[place]:
        raise SqlError(f"{place} takes no {value.type}: write CAST({value} AS STRING) for %s")
    return resolve("coalesce", (cast(value, _STRING), literal("null", _STRING)))


@define(
    "Text",
    "parse_url",
    ["parse_url(url, 'part')", "parse_url(url, 'QUERY', 'key')"],
    f"A part of an address, {', '.join(URL_PARTS)}, or the value of a key of its query; NULL if it "
    "has none. Fails for texts that are no addresses.",
)
def _parse_url(args: tuple[Expr, ...]) -> Expr | None:
    name = "parse_url"
    call = with_constants(name, args[:2], (_STRING, _STRING), _STRING, (1,))
    if not isinstance(call, Call):
        return call
    part = constant(name, call.args[1])
    if part not in URL_PARTS:
        raise SqlError(f"an address has no part '{part}'; {did_you_mean(part, URL_PARTS)}")
    if len(args) == 2:
        return call
    if len(args) > 3 or part != "QUERY":
        return None
    key = constant(name, args[2])
    if not isinstance(key, str):
        return Literal(_STRING, None)
    return Call(_STRING, name, (*call.args, args[2]))


@define(
    "Text",
    "try_parse_url",
    ["try_parse_url(url, 'part')", "try_parse_url(url, 'QUERY', 'key')"],
    "The same; NULL for texts that are no addresses.",
)
def _try_parse_url(args: tuple[Expr, ...]) -> Expr | None:
    return tolerated(FUNCTIONS["parse_url"].rule(args))


@define(
    "Encodings",
    "to_binary",
    [
        "to_binary(text)",
        "to_binary(text, 'hex')",
        "to_binary(text, 'utf-8')",
        "to_binary(text, 'base64')",
    ],
    "The bytes of a text, or those that its hexadecimal digits (the default) or Base64 stand for.",
)
def _to_binary(args: tuple[Expr, ...]) -> Expr | None:
    text = implicit(args[0], _STRING) if 1 <= len(args) <= 2 else None
    if text is None:
        return None
    form = "hex" if len(args) == 1 else constant("to_binary", args[1])
    forms = {"utf-8": "utf-8", "utf8": "utf-8", "hex": "hex", "base64": "base64"}
    if not isinstance(form, str) or form.lower() not in forms:
        raise SqlError(f"to_binary reads 'hex', 'utf-8' and 'base64', not {form}")
    form = forms[form.lower()]
    if form == "utf-8":
        return cast(text, _BYTES)
    return resolve("unbase64" if form == "base64" else "unhex", (text,))
