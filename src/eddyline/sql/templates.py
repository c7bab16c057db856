"""Templates: statements that differ in constants only are parsed once.

Thousands of standing queries often share one text up to constants. So the syntax trees of recent
statements are stored with the offsets of their constants; a statement with other constants is an
instance of one of them: its tree, a copy with its own constants and offsets, is made if it is
needed.

A value is variable where it is a constant of an expression, for instance behind an operator.
Elsewhere, as in ``RANGE 5 MINUTES``, it is part of the fixed text. Of the variable ones, those that
stand in WHERE and HAVING among comparisons are *open*: the binder gets at them as values only, so
the engine can find out whether the plan depends on them (``engine/prepared.py``).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Final

from sqlglot import exp

from eddyline.sql.naming import why_no_name
from eddyline.sql.source import SourceText
from eddyline.sql.statements import (
    CreateQuery,
    OptionOffsets,
    Select,
    SelectStatement,
    Statement,
)

#: Longest text that uses templates; number of stored templates.
LONGEST: Final = 10_000
KEPT: Final = 512
#: CREATE QUERY with a name that cannot be a keyword: it is quoted or has a digit.
_HEAD: Final = re.compile(r"CREATE QUERY (`\w+`|[A-Za-z_]\w*[0-9]) AS ")
_CONSTANT: Final = re.compile(r"('[^']*'|(?<![\w.`])[0-9]+(?:\.[0-9]+)?(?![\w.`]))")
_PLAIN_NAME: Final = re.compile(r"`\w+`")
#: Characters that can give quotes and digits another meaning.
_NOT_PLAIN: Final = re.compile(r"""["`\\{$]|--|/\*|''""")
_SIGNS: Final = "=<>,+*/%|-"
_BEFORE: Final = re.compile(
    rf"(?:[({_SIGNS}]|\b(?:AND|OR|NOT|IN|BETWEEN|I?LIKE|RLIKE|ESCAPE|WHEN|THEN|ELSE))\s*$",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile(
    rf"\s*(?:$|[){_SIGNS}]|(?:AND|OR|WHEN|THEN|ELSE|END|ESCAPE|GROUP|HAVING|EMIT|ON\s+OVERLOAD|WITH|WINDOW)\b)",
    re.IGNORECASE,
)

#: What may be between an open constant and its WHERE or HAVING.
_OPEN_WITHIN: Final = frozenset(
    (
        *(exp.And, exp.Or, exp.Not, exp.Paren, exp.Between, exp.In, exp.Neg),
        *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Add, exp.Sub, exp.Mul),
    )
)

Parsed = CreateQuery | SelectStatement


class Text:
    """The text of a statement, split at its constants and at the name of the query that it creates.

    Args:
        at: its offset in a script.

    Attributes:
        values: the constants and the name; starts, ends: their offsets in the text.
        shape: the text between the values, and the kinds of the values.
        creates: whether the first value is the name of a query.
    """

    def __init__(self, text: str, at: int = 0) -> None:
        head = _HEAD.match(text)
        start = head.end() if head else 0
        parts = _CONSTANT.split(text[start:])
        if head:
            parts = [
                text[: head.start(1)],
                head[1],
                text[head.end(1) : start] + parts[0],
                *parts[1:],
            ]
        borders = list(accumulate(map(len, parts)))
        self.text = text
        self.at = at
        self.values = parts[1::2]
        self.starts, self.ends = borders[:-1:2], borders[1::2]
        self.kinds = tuple(map(_kind, self.values))
        self.shape = (*parts[::2], *self.kinds)
        self.creates = head is not None

    def is_plain(self) -> bool:
        """Whether each of ``values`` is certainly a constant or the name."""
        body = self.text[self.ends[0] :] if self.creates else self.text
        return not _NOT_PLAIN.search(_PLAIN_NAME.sub("name", body))


@dataclass(frozen=True, eq=False)
class Template:
    """A parsed statement of which others are instances.

    Attributes:
        key: equal for texts that differ in variable values only.
        select_key: equal for texts whose SELECT and EMIT do.
        open: which constants are open.
    """

    key: object
    select_key: object
    text: Text
    statement: Parsed
    open: tuple[int, ...]

    @property
    def first(self) -> int:
        """The index of the first value that is a constant."""
        return int(self.text.creates)

    def filled(self, other: Text, source: SourceText) -> Parsed:
        """The statement of another text in a script, which differs in variable values only."""
        known, sql = self.statement, other.text.strip()
        instance = Instance(self, tuple(other.values), other.text, other.at)
        moves = _Moves(self.text, other)
        start, end = known.select.span
        select = Select(instance, source, span=(moves.moved(start), moves.moved(end)))
        place = source.position(other.at + len(other.text) - len(other.text.lstrip()))
        if isinstance(known, SelectStatement):
            return SelectStatement(sql, *place, select, known.emit, known.sheds)
        name = other.values[0].strip("`") if other.creates else known.name
        offsets = {
            o: OptionOffsets(*map(moves.moved, offset)) for o, offset in known.offsets.items()
        }
        return CreateQuery(
            *(sql, *place, name, select, known.emit, known.options, known.sheds, offsets),
            in_parts=known.in_parts,
        )


@dataclass(frozen=True, eq=False)
class Instance:
    """The SELECT of a statement as that of a template with other values.

    Attributes:
        values: as of :class:`Text`. sql, at: the text of the statement, and its offset.
        constants: the values without the name of a query.
    """

    template: Template
    values: tuple[str, ...]
    sql: str
    at: int

    @cached_property
    def ast(self) -> exp.Query:
        """Its syntax tree."""
        return self.marked({})

    @property
    def constants(self) -> tuple[str, ...]:
        return self.values[self.template.first :]

    def marked(self, marks: Mapping[int, Mapping[str, Any]]) -> exp.Query:
        """A syntax tree with more meta data of constants, by their number."""
        marks = {i + self.template.first: mark for i, mark in marks.items()}
        text, new = self.template.text, Text(self.sql, self.at)
        starts = {text.at + start: i for i, start in enumerate(text.starts)}
        copy = _Copy(starts, self.values, _Moves(text, new), marks)
        ast = copy.of(self.template.statement.select.ast)
        assert isinstance(ast, exp.Query), "as the one that it copies"
        return ast


class Templates:
    """The templates of recent statements."""

    def __init__(self) -> None:
        self._fixed: dict[Any, tuple[int, ...]] = {}  # by shape, the values that cannot differ
        self._templates: dict[Any, Template] = {}

    def find(self, text: Text, source: SourceText) -> Statement | None:
        """The statement of a text in a script, from a template; None if there is none."""
        fixed = self._fixed.get(text.shape)
        if fixed is None or not text.is_plain():
            return None
        if text.creates and why_no_name(text.values[0].strip("`")) is not None:
            return None
        template = self._templates.get(_key(text, fixed))
        if template is None:
            return None
        _keep(self._templates, template.key, template)
        _keep(self._fixed, text.shape, fixed)
        return template.filled(text, source)

    def learn(self, text: Text, statements: Sequence[Statement]) -> None:
        """Store the statement of a text as a template, if it can be one."""
        if len(statements) != 1 or not text.is_plain():
            return
        (statement,) = statements
        if not isinstance(statement, Parsed) or statement.sql != text.text.strip():
            return
        if statement.select.for_each is not None or statement.by:
            return
        constants = _constants(text, statement)
        named = {0} if text.creates else set()
        fixed = tuple(i for i in range(len(text.values)) if i not in constants and i not in named)
        # equal for all texts of a shape: the text around the constants decides
        key = _key(text, fixed)
        free = tuple(i - len(named) for i, node in constants.items() if _is_open(node))
        made = Template(key, _select_key(text, statement, fixed), text, statement, free)
        _keep(self._templates, key, made)
        _keep(self._fixed, text.shape, fixed)


class _Moves:
    """Where the words of a statement are in the text of another instance of its template."""

    def __init__(self, old: Text, new: Text) -> None:
        self._ends = [old.at + end for end in old.ends]
        by = new.at - old.at
        self._shifts = [by, *(by + n - o for n, o in zip(new.ends, old.ends, strict=True))]

    def moved(self, offset: int) -> int:
        """The offset in the new text of an offset in the old one."""
        return offset + self._shifts[bisect_right(self._ends, offset)]


class _Copy:
    """Copies syntax trees with other constants and offsets.

    Args:
        starts: by offset, the index of the value there. values: the new ones, as written.
        moves: of the words.
        marks: more meta data of constants, by the index of their values.
    """

    def __init__(
        self,
        starts: Mapping[int, int],
        values: Sequence[str],
        moves: _Moves,
        marks: Mapping[int, Mapping[str, Any]],
    ) -> None:
        self._starts = starts
        self._values = values
        self._moves = moves
        self._marks = marks

    def of(self, node: exp.Expr) -> exp.Expr:
        """The copy of a node with its subtree."""
        copies: dict[int, exp.Expr] = {}
        for below in reversed(list(node.walk(bfs=False))):  # operands before their operators
            copies[id(below)] = self._copy(below, copies)
        return copies[id(node)]

    def _copy(self, node: exp.Expr, copies: Mapping[int, exp.Expr]) -> exp.Expr:
        """The copy of a node, given the copies of its operands."""
        args: dict[str, Any] = {}
        for name, value in node.args.items():
            if isinstance(value, exp.Expr):
                args[name] = copies[id(value)]
            elif isinstance(value, list):
                args[name] = [copies[id(v)] if isinstance(v, exp.Expr) else v for v in value]
            else:
                args[name] = value
        start: int | None = node.meta.get("start")
        if start is None:
            return type(node)(**args)
        index = self._starts.get(start) if isinstance(node, exp.Literal) else None
        if index is not None:
            args["this"] = self._values[index].strip("'")
        made = type(node)(**args)
        made.meta["start"] = self._moves.moved(start)
        made.meta["end"] = self._moves.moved(node.meta["end"] + 1) - 1
        if index is not None and index in self._marks:
            made.meta.update(self._marks[index])
        return made


def _keep(kept: dict[Any, Any], key: object, value: object) -> None:
    """Set a value that is forgotten after all others that are kept now."""
    kept.pop(key, None)
    kept[key] = value
    while len(kept) > KEPT:
        kept.pop(next(iter(kept)), None)


def _kind(value: str) -> str:
    return "'" if value[0] == "'" else "." if "." in value else "1"


def _key(text: Text, fixed: tuple[int, ...]) -> object:
    return (text.shape, *(text.values[i] for i in fixed))


def _select_key(text: Text, statement: Parsed, fixed: tuple[int, ...]) -> object:
    """See ``Template.select_key``."""
    start = statement.select.span[0]
    borders = [start - text.at, *(b for b in _borders(text) if b > start - text.at), None]
    pieces = [text.text[a:b].strip() for a, b in zip(borders[::2], borders[1::2], strict=True)]
    values = tuple(text.values[i] for i in fixed)
    return (*pieces, *text.kinds[int(text.creates) :], *values)


def _borders(text: Text) -> list[int]:
    """The starts and ends of the values."""
    return [b for pair in zip(text.starts, text.ends, strict=True) for b in pair]


def _constants(text: Text, statement: Parsed) -> dict[int, exp.Literal]:
    """By index, the values that are constants of an expression."""
    nodes = {n.meta.get("start"): n for n in statement.select.ast.find_all(exp.Literal)}
    found = {}
    for i, (value, start, end) in enumerate(zip(text.values, text.starts, text.ends, strict=True)):
        node = nodes.get(text.at + start)
        if (
            node is not None
            and node.this == value.strip("'")
            and _BEFORE.search(text.text[:start])
            and _BEHIND.match(text.text, end)
        ):
            found[i] = node
    return found


def _is_open(node: exp.Literal) -> bool:
    """Whether a constant is compared in WHERE or HAVING."""
    at = node.parent
    while type(at) in _OPEN_WITHIN:
        assert at is not None, "None is of another type"
        at = at.parent
    return isinstance(at, (exp.Where, exp.Having))
