"""The oracle's reader of queries, separate from the engine's parser so that errors do not cancel.

The extensions (windows in brackets, a trailing ``WINDOW``, ``EMIT``, ``ON OVERLOAD``) are removed
from the token stream; the rest is plain Spark SQL (except the keys of ``EXCEPT ALL ON``), in which
stream number i of the text is a table with a reserved name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import Token, TokenType

from eddyline.testing.month_windows import FixedLengths, MonthWindows

_UNIT_US: Final = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
_MONTHS: Final = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_WINDOW_WORDS: Final = {"RANGE", "ROWS", "PARTITION", "PARTITION BY", "NOW", "UNBOUNDED"}
_FIXED: Final = {"TUMBLE", "HOP", "CUMULATE", "SESSION"}
_MARK: Final = re.compile(r"(?P<stream>.+)__window(?P<number>\d+)")


@dataclass(frozen=True)
class WindowText:
    """A window as written: a length in time, a number of rows (per value), or unbounded; or
    windows between fixed instants: TUMBLE, HOP or CUMULATE, with their size, step and offset; or
    sessions: their gap and the columns of their keys.
    """

    range_us: int | None = None
    rows: int | None = None
    partition: tuple[str, ...] = ()
    fixed: FixedLengths | MonthWindows | None = None
    session: tuple[int, tuple[str, ...]] | None = None


@dataclass(frozen=True)
class Reading:
    """The parts of a query.

    Attributes:
        select: plain SQL; a stream with a window is a table named ``<stream>__window<i>``.
        windows: by i.
        trailing: the window of all streams without one.
        mode: ``inserts``, ``changes`` or ``snapshot``; ``every_us`` and
            ``offset_us``: the period of the last, and its offset.
        for_each: the table of FOR EACH ROW OF.
    """

    select: exp.Expr
    windows: tuple[WindowText, ...]
    trailing: WindowText | None = None
    mode: str = "inserts"
    every_us: int | None = None
    offset_us: int = 0
    for_each: str | None = None


@lru_cache(maxsize=512)
def read_query(sql: str) -> Reading:
    """Split a SELECT with its EMIT and ON OVERLOAD. The result is cached: do not change it."""
    tokens = Spark().tokenize(sql)
    of_row = row_of(tokens)
    if of_row is not None:
        tokens = tokens[of_row[2] :]
    overload = _find(tokens, "OVERLOAD")
    if overload < len(tokens):  # of ON OVERLOAD SHED
        tokens = tokens[: overload - 1]
    emit = _find(tokens, "EMIT")
    options = _find(tokens[emit:], "WITH")
    mode, every_us, offset_us = _read_emit(tokens[emit : emit + options])
    body = [t for t in tokens[:emit] if t.token_type is not TokenType.SEMICOLON]
    body, trailing = _cut_trailing(body)
    text, windows = _cut_windows(sql, body)
    select = sqlglot.parse_one(text, read="spark")
    for_each = None if of_row is None else of_row[0]
    return Reading(select, windows, trailing, mode, every_us, offset_us, for_each)


def row_of(tokens: Sequence[Token]) -> tuple[str, str, int] | None:
    """Of ``FOR EACH ROW OF table [AS name] AS SELECT``: table, name, and where the SELECT begins;
    None for another query.
    """
    if tokens[0].text.upper() != "FOR":
        return None
    table = tokens[4].text
    names = [t.text for t in tokens[5:9]]
    has_name = names[2].upper() == "AS" if names[0].upper() == "AS" else names[1].upper() == "AS"
    if not has_name:
        return table, table, 6
    return (table, names[1], 8) if names[0].upper() == "AS" else (table, names[0], 7)


def read_views(script: str) -> dict[str, str]:
    """The SELECT text of each CREATE VIEW and CREATE QUERY of a script, by name."""
    found = {}
    for statement in _statements(script):
        words = [t.text.upper() for t in statement[:4]]
        if len(words) == 4 and words[0] == "CREATE" and words[1] in ("VIEW", "QUERY"):
            found[statement[2].text] = script[statement[4].start : statement[-1].end + 1]
    return found


def stream_of(table: exp.Table) -> tuple[str, int | None]:
    """The stream, table or view of a table of ``Reading.select``, and the number of its window."""
    match = _MARK.fullmatch(table.name)
    return (match["stream"], int(match["number"])) if match else (table.name, None)


def range_windows(sql: str, views: Mapping[str, str]) -> set[int]:
    """Lengths in us of all RANGE windows of a query and of its views."""
    reading = read_query(sql)
    windows = [*reading.windows, *([reading.trailing] if reading.trailing else [])]
    lengths = {w.range_us for w in windows if w.range_us is not None}
    for table in reading.select.find_all(exp.Table):
        if table.name in views:
            lengths |= range_windows(views[table.name], views)
    return lengths


def fixed_windows(sql: str, views: Mapping[str, str]) -> set[FixedLengths | MonthWindows]:
    """All TUMBLE, HOP and CUMULATE windows of a query and of its views."""
    return {w.fixed for w in _all_windows(sql, views) if w.fixed is not None}


def session_gaps(sql: str, views: Mapping[str, str]) -> set[int]:
    """The gaps in us of all SESSION windows of a query and of its views."""
    return {w.session[0] for w in _all_windows(sql, views) if w.session is not None}


def _all_windows(sql: str, views: Mapping[str, str]) -> Iterator[WindowText]:
    reading = read_query(sql)
    yield from reading.windows
    if reading.trailing:
        yield reading.trailing
    for table in reading.select.find_all(exp.Table):
        name, _ = stream_of(table)
        if name in views:
            yield from _all_windows(views[name], views)


def _statements(script: str) -> Iterator[list[Token]]:
    statement: list[Token] = []
    for token in Spark().tokenize(script):
        if token.token_type is TokenType.SEMICOLON:
            yield statement
            statement = []
        else:
            statement.append(token)
    yield statement


def _find(tokens: Sequence[Token], word: str) -> int:
    """The position of a word outside all parentheses; the end if there is none."""
    depth = 0
    for i, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0 and token.text.upper() == word and token.token_type is not TokenType.STRING:
            return i
    return len(tokens)


def _read_emit(tokens: Sequence[Token]) -> tuple[str, int | None, int]:
    if not tokens:
        return "inserts", None, 0
    mode = tokens[1].text.lower()
    if mode != "snapshot":
        return mode, None, 0
    at = _find(tokens, "OFFSET")
    return mode, duration_us(tokens[3:at]), duration_us(tokens[at + 1 :])


def _cut_trailing(body: list[Token]) -> tuple[list[Token], WindowText | None]:
    at = _find(body, "WINDOW")
    if at == len(body):
        return body, None
    if body[at + 1].text.upper() == "RANGE":
        return body[:at], _read_window(body[at + 1 :])
    return body[:at], WindowText(range_us=duration_us(body[at + 1 :]))


def _cut_windows(sql: str, body: Sequence[Token]) -> tuple[str, tuple[WindowText, ...]]:
    """The text with the name in front of every window as ``name__window<i>``, and ``EXCEPT ALL ON
    (k)`` as ``EXCEPT ALL BY NAME ON (k)``, the form that sqlglot parses.
    """
    pieces: list[str] = []
    windows: list[WindowText] = []
    end, i = body[0].start, 0
    while i < len(body):
        if _opens_keys(body, i):
            pieces += [sql[end : body[i].start], "BY NAME "]
            end = body[i].start
        elif (called := _function_at(body, i)) is not None:
            name_at, close, window = called
            pieces.append(sql[end : body[i].start])
            pieces.append(f"`{body[name_at].text}__window{len(windows)}`")
            windows.append(window)
            end, i = body[close].end + 1, close
        elif _opens_window(body, i):
            name = _name_before(body, i)
            close = next(
                j for j in range(i, len(body)) if body[j].token_type is TokenType.R_BRACKET
            )
            pieces.append(sql[end : body[name].start])
            pieces.append(f"`{body[name].text}__window{len(windows)}`")
            pieces.append(sql[body[name].end + 1 : body[i].start])
            windows.append(_read_window(body[i + 1 : close]))
            end, i = body[close].end + 1, close
        i += 1
    return "".join(pieces) + sql[end : body[-1].end + 1], tuple(windows)


def _function_at(body: Sequence[Token], i: int) -> tuple[int, int, WindowText] | None:
    """``[TABLE(] HOP([TABLE] s, DESCRIPTOR(ts), slide, size [, offset]) [)]``: where its
    input's name is, where it ends, and its windows.
    """
    texts = [t.text.upper() for t in body[i : i + 4]]
    if texts[:2] == ["TABLE", "("] and texts[2] in _FIXED and texts[3] == "(":
        found = _function_at(body, i + 2)
        assert found is not None, "it has been seen"
        return found[0], found[1] + 1, found[2]
    if len(texts) < 2 or texts[0] not in _FIXED or texts[1] != "(":
        return None
    arguments: list[list[Token]] = [[]]
    depth, at = 1, i + 2
    while depth:
        text = body[at].text
        depth += (text == "(") - (text == ")")
        if text == "," and depth == 1:
            arguments.append([])
        elif depth:
            arguments[-1].append(body[at])
        at += 1
    lengths = [_length(a) for a in arguments[2:]]
    name = i + 2 + (body[i + 2].text.upper() == "TABLE")
    name += body[name].text == "("  # TABLE(s)
    if texts[0] == "SESSION":
        keys = _partition(arguments[0]) or _partition(body[at : at + 2])
        outside = at < len(body) and body[at].text.upper() == "PARTITION BY"
        return name, at - 1 + 2 * outside, WindowText(session=(lengths[0][1], keys))
    if texts[0] == "TUMBLE":
        lengths.insert(0, lengths[0])
    step, size, offset = (*lengths, (0, 0))[:3]
    return name, at - 1, _fixed(texts[0], size, step, offset)


def _fixed(
    kind: str, size: tuple[int, int], step: tuple[int, int], offset: tuple[int, int]
) -> WindowText:
    """Windows of lengths in months and us."""
    if size[0]:
        return WindowText(fixed=MonthWindows(kind, size[0], *step, *offset))
    return WindowText(fixed=(kind, size[1], step[1], offset[1]))


def _partition(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The columns of ``PARTITION BY k`` or ``PARTITION BY (k, l)`` at the end of tokens."""
    texts = [t.text for t in tokens]
    words = [t.upper() for t in texts]
    at = words.index("PARTITION BY") + 1 if "PARTITION BY" in words else len(words)
    return tuple(t for t in texts[at:] if t not in ("(", ",", ")"))


def _name_before(body: Sequence[Token], bracket: int) -> int:
    """The position of the stream's name: before the window, or before an alias between them."""
    if body[bracket - 2].token_type is TokenType.ALIAS:
        return bracket - 3
    names = (TokenType.VAR, TokenType.IDENTIFIER)
    return bracket - 2 if body[bracket - 2].token_type in names else bracket - 1


def _opens_window(body: Sequence[Token], i: int) -> bool:
    bracket = body[i].token_type is TokenType.L_BRACKET and i > 0 and i + 1 < len(body)
    return bracket and body[i + 1].text.upper() in _WINDOW_WORDS | _FIXED


def _opens_keys(body: Sequence[Token], i: int) -> bool:
    words = [t.text.upper() for t in body[max(i - 2, 0) : i + 1]]
    return words == ["EXCEPT", "ALL", "ON"]


def _read_window(tokens: Sequence[Token]) -> WindowText:
    words = [t.text.upper() for t in tokens]
    if words[0] == "NOW":
        return WindowText(range_us=1)
    if "UNBOUNDED" in words:
        return WindowText()
    if words[0] == "SESSION":
        by = words.index("BY") if "BY" in words else len(words)
        keys = tuple(t.text for t in tokens[by + 1 :] if t.text != ",")
        return WindowText(session=(duration_us(tokens[1:by]), keys))
    if words[0] in _FIXED:
        at = {w: words.index(w) if w in words else len(words) for w in ("EVERY", "OFFSET")}
        size = _length(tokens[1 : min(at.values())])
        every = _length(tokens[at["EVERY"] + 1 : at["OFFSET"]])
        offset = _length(tokens[at["OFFSET"] + 1 :])
        return _fixed(words[0], size, every if any(every) else size, offset)
    if words[0] == "RANGE":
        at_most = words.index("MOST") + 1 if "MOST" in words else 1  # the longest of any row
        return WindowText(range_us=duration_us(tokens[at_most:]))
    rows = WindowText(rows=int(words[words.index("ROWS") + 1]))
    if words[0] == "ROWS":
        return rows
    names = [t.text for t in tokens[1 : words.index("ROWS")]]
    return replace(rows, partition=tuple(n for n in names if n.upper() not in (",", "BY")))


def unit_us(unit: str) -> int:
    """The length of a unit of time, singular or plural."""
    return _UNIT_US[unit.upper().removesuffix("S")]


def duration_us(tokens: Sequence[Token]) -> int:
    """The us of a duration."""
    return _length(tokens)[1]


def _length(tokens: Sequence[Token]) -> tuple[int, int]:
    """Months and us of ``5 MINUTES``, ``INTERVAL 5 MINUTES``, ``'5' MINUTES``, or of a sum."""
    words = " ".join(t.text.upper() for t in tokens if t.text.upper() != "INTERVAL").split()
    months = us = 0
    for number, unit in zip(words[::2], words[1::2], strict=True):
        name = unit.removesuffix("S")
        months += int(number) * _MONTHS[name] if name in _MONTHS else 0
        us += round(float(number) * _UNIT_US.get(name, 0))
    return months, us
