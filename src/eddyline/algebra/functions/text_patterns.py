"""LIKE and regular expressions (those of RE2, which take linear time).

The patterns are constants; they are checked and normalized here, so that wrong ones are errors of
the statement and equal ones are equal expressions.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import cast, kind
from eddyline.algebra.functions.registry import define, resolve
from eddyline.algebra.functions.strings import constant, with_constants
from eddyline.errors import SqlError

_FAMILY = "Patterns"
_STRING, _INT, _BIGINT, _BOOL = pa.string(), pa.int32(), pa.int64(), pa.bool_()


def _like(name: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        if len(args) not in (2, 3) or not all(kind(a.type) in ("string", "null") for a in args):
            return None
        pattern, escape = constant(name, args[1]), "\\"
        if len(args) == 3:
            escape = constant(name, args[2]) or ""
            if len(escape) != 1:
                raise SqlError(f"ESCAPE takes one character, not {args[2]}")
        if pattern is None:
            return Literal(_BOOL, None)
        standard = Literal(_STRING, _standard_pattern(pattern, escape))
        if name == "ilike":
            standard = Literal(_STRING, standard.value.lower())
        return Call(_BOOL, name, (cast(args[0], _STRING), standard))

    define(
        _FAMILY,
        name,
        f"text {name.upper()} pattern [ESCAPE character]",
        "Whether the whole text matches the pattern: % is any text, _ any character"
        + ("; case is ignored." if name == "ilike" else "."),
        rule,
    )


_like("like")
_like("ilike")


def _standard_pattern(pattern: str, escape: str) -> str:
    """The pattern with backslash as its escape, only before ``%``, ``_`` and backslash."""
    out, chars = [], iter(pattern)
    for char in chars:
        if char == escape:
            char = next(chars, "")
            if char not in ("%", "_", escape):
                raise SqlError(
                    f"in LIKE pattern '{pattern}' the escape character {escape} must be "
                    f"followed by %, _ or {escape}"
                )
            out.append(char if char not in "%_\\" else "\\" + char)
        else:
            out.append("\\\\" if char == "\\" else char)
    return "".join(out)


@define(
    _FAMILY,
    "rlike regexp regexp_like",
    "text RLIKE pattern",
    "Whether the regular expression matches a part of the text.",
)
def _rlike(args: tuple[Expr, ...]) -> Expr | None:
    call = with_constants("rlike", args, (_STRING, _STRING), _BOOL, (1,))
    if isinstance(call, Call):
        check_regex(call.args[1])
    return call


@define(
    _FAMILY,
    "similar_to",
    "text SIMILAR TO pattern",
    "Whether the whole text matches a pattern of the standard: % is any text, _ any character, and "
    "| * + ? {n} () [] are as in regular expressions; a backslash makes the next character plain.",
)
def _similar_to(args: tuple[Expr, ...]) -> Expr | None:
    call = with_constants("similar_to", args, (_STRING, _STRING), _BOOL, (1,))
    if not isinstance(call, Call):
        return call
    text, pattern = call.args
    standard = _regex_of_similar(constant("similar_to", pattern))
    expression = Literal(_STRING, rf"\A(?s:{standard})\z")
    check_regex(expression)
    return Call(_BOOL, "rlike", (text, expression))


def _regex_of_similar(pattern: str) -> str:
    """The regular expression of a pattern of SIMILAR TO, without its ends."""
    wild = {"%": ".*", "_": ".", "^": r"\^", "$": r"\$", ".": r"\."}

    def translate(match: re.Match[str]) -> str:
        token = match[0]
        if token[0] == "\\":
            return re.escape(token[1:] or "\\")
        return token if token[0] == "[" else wild.get(token, token)

    return re.sub(r"\\.?|\[\^?\]?[^\]]*\]|.", translate, pattern, flags=re.DOTALL)


@define(
    _FAMILY,
    "regexp_match",
    "(regexp_match(text, pattern))[group]",
    "A group, from 1, of the first match, the whole match without groups; NULL without a match.",
)
def _regexp_match(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 3:
        raise SqlError(
            "regexp_match gives a list of groups: write (regexp_match(text, pattern))[1]"
        )
    call = with_constants("regexp_match", args, (_STRING, _STRING, _BIGINT), _STRING, (1, 2))
    if not isinstance(call, Call):
        return call
    text, pattern, group = call.args
    check_regex(pattern)
    expression, number = (constant("regexp_match", a) for a in (pattern, group))
    if number < 1:
        raise SqlError("the groups of regexp_match are numbered from 1")
    groups = sum(m[0][0] == "(" for m in _TOKENS.finditer(expression))
    group = Literal(_BIGINT, 0 if number == 1 and not groups else number)
    return _first_match(text, pattern, group)


def _first_match(text: Expr, pattern: Expr, group: Expr) -> Expr:
    """A group of the first match; NULL without one."""
    matches = resolve("rlike", (text, pattern))
    return resolve("case", (matches, resolve("regexp_extract", (text, pattern, group))))


@define(
    _FAMILY,
    "regexp_substr",
    "regexp_substr(text, pattern)",
    "The first match of the regular expression; NULL without one.",
)
def _regexp_substr(args: tuple[Expr, ...]) -> Expr | None:
    call = with_constants("regexp_substr", args, (_STRING, _STRING), _STRING, (1,))
    if not isinstance(call, Call):
        return call
    text, pattern = call.args
    check_regex(pattern)
    return _first_match(text, pattern, Literal(_BIGINT, 0))


@define(
    _FAMILY,
    "regexp_replace",
    ["regexp_replace(text, pattern, by)", "regexp_replace(text, pattern, by, 'g')"],
    "Every match of the regular expression replaced; $1 is the match of its first group. 'g', as "
    "in PostgreSQL, says the same.",
)
def _regexp_replace(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) == 4 and isinstance(args[3], Literal) and args[3].value == "g":
        args = args[:3]
    types = (_STRING, _STRING, _STRING)
    call = with_constants("regexp_replace", args, types, _STRING, (1, 2))
    if not isinstance(call, Call):
        return call
    text, pattern, by = call.args
    check_regex(pattern)
    standard = _re2_replacement(constant("regexp_replace", by))
    try:
        pc.replace_substring_regex(pa.array([""]), constant("regexp_replace", pattern), standard)
    except pa.ArrowInvalid as error:
        raise SqlError(f"{by} does not fit the pattern {pattern}: {error}") from None
    return Call(_STRING, "regexp_replace", (text, pattern, Literal(_STRING, standard)))


@define(
    _FAMILY,
    "regexp_extract",
    ["regexp_extract(text, pattern)", "regexp_extract(text, pattern, group)"],
    "A group (default 1; 0 is all) of the first match; empty text without a match.",
)
def _regexp_extract(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) == 2:
        args = (*args, Literal(_BIGINT, 1))
    types = (_STRING, _STRING, _BIGINT)
    call = with_constants("regexp_extract", args, types, _STRING, (1, 2))
    if not isinstance(call, Call):
        return call
    text, pattern, group = call.args
    check_regex(pattern)
    expression, number = (constant("regexp_extract", a) for a in (pattern, group))
    single = Literal(_STRING, only_group(expression, number))
    return Call(_STRING, "regexp_extract", (text, single))


@define(
    _FAMILY,
    "regexp_count",
    "regexp_count(text, pattern)",
    "Number of matches of the regular expression, which does not match the empty text.",
)
def _regexp_count(args: tuple[Expr, ...]) -> Expr | None:
    call = with_constants("regexp_count", args, (_STRING, _STRING), _INT, (1,))
    if isinstance(call, Call):
        check_regex(call.args[1])
        check_not_empty("regexp_count", call.args[1])
    return call


@define(
    _FAMILY,
    "split regexp_split_to_array",
    ["split(text, pattern)", "split(text, pattern, count)"],
    "The list of the parts between matches of the regular expression, which is not empty; with a "
    "positive count, a constant, at most that number of parts.",
)
def _split(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) == 2:
        args = (*args, Literal(_BIGINT, -1))
    types = (_STRING, _STRING, _BIGINT)
    call = with_constants("split", args, types, pa.list_(_STRING), (1, 2))
    if isinstance(call, Call):
        check_regex(call.args[1])
        check_not_empty("split", call.args[1])
    return call


def check_not_empty(function: str, pattern: Expr) -> None:
    """Raise an error for a pattern that matches the empty text."""
    expression = constant(function, pattern)
    if pc.match_substring_regex(pa.array([""]), pattern=expression)[0].as_py():
        raise SqlError(f"the pattern {pattern} of {function} matches the empty text")


def check_regex(pattern: Expr) -> None:
    """Raise an error for a pattern that is no regular expression."""
    expression = constant("the regular expression", pattern)
    try:
        pc.match_substring_regex(pa.array([""]), pattern=expression)
    except pa.ArrowInvalid as error:
        raise SqlError(f"{pattern} is not a regular expression of RE2: {error}") from None


def _re2_replacement(text: str) -> str:
    r"""Java's replacement notation (``$1``, backslash escapes) as RE2's (``\1``)."""

    def translate(match: re.Match[str]) -> str:
        token = match[0]
        if token[0] == "$" and len(token) == 2:
            return "\\" + token[1]
        char = token[-1]
        return "\\\\" if char == "\\" else char

    return re.sub(r"\$\d|\\.|\\", translate, text)


#: An escape, a character class, or an opening bracket of a group: all that affects group numbers.
_TOKENS = re.compile(
    r"\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\(\?P?<\w+>|\((?!\?)", re.DOTALL
)


def only_group(pattern: str, group: int) -> str:
    """The pattern with one capturing group, that of the number, named ``found``."""
    count = 0

    def rename(match: re.Match[str]) -> str:
        nonlocal count
        if match[0][0] != "(":
            return match[0]
        count += 1
        return "(?P<found>" if count == group else "(?:"

    renamed = _TOKENS.sub(rename, pattern)
    if not 0 <= group <= count:
        raise SqlError(f"the pattern '{pattern}' has {count} groups; there is no group {group}")
    return f"(?P<found>{renamed})" if group == 0 else renamed
