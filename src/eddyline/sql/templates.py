"""Templates: statements that differ in constants only are parsed once.

Thousands of standing queries often share one text up to constants, and parsing is the longest part
of adding one. So the syntax trees of recent statements are stored with the offsets of their
constants; a statement with other constants gets a copy with its own constants and offsets.

A value is variable where it is a constant of an expression, for instance behind an operator.
Elsewhere, as in ``RANGE 5 MINUTES``, it is part of the fixed text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Final

from sqlglot import exp

from eddyline.sql.naming import why_no_name
from eddyline.sql.source import SourceText
from eddyline.sql.statements import CreateQuery, OptionOffsets, SelectStatement, Statement

#: Longest text that uses templates; number of stored templates.
LONGEST: Final = 10_000
_KEPT: Final = 16
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

Parsed = CreateQuery | SelectStatement


class Text:
    """The text of a statement, split at its constants and at the name of the query that it creates.

    Attributes:
        values: the constants and the name; starts, ends: their offsets.
        shape: the text between the values, and the kinds of the values.
    """

    def __init__(self, text: str) -> None:
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
        self.values = parts[1::2]
        self.starts, self.ends = borders[:-1:2], borders[1::2]
        self.shape = (*parts[::2], *map(_kind, self.values))
        self.creates = head is not None

    def is_plain(self) -> bool:
        """Whether each of ``values`` is certainly a constant or the name."""
        body = self.text[self.ends[0] :] if self.creates else self.text
        return not _NOT_PLAIN.search(_PLAIN_NAME.sub("name", body))


@dataclass(frozen=True)
class Template:
    """A parsed statement from which others are copied."""

    text: Text
    statement: Parsed

    def filled(self, other: Text) -> Parsed:
        """The statement of another text, which differs in variable values only."""
        select = self.statement.select
        grown = [new - old for new, old in zip(other.ends, self.text.ends, strict=True)]
        values = dict(zip(self.text.starts, other.values, strict=True))
        copy = _Copy(values, self.text.ends, [0, *grown])
        ast = copy.of(select.ast)
        assert isinstance(ast, exp.Query), "as the one that it copies"
        made = replace(
            self.statement,
            sql=other.text.strip(),
            select=replace(
                select,
                ast=ast,
                source=SourceText(other.text),
                span=(copy.moved(select.span[0]), copy.moved(select.span[1])),
            ),
        )
        if isinstance(made, CreateQuery):
            offsets = {
                o: OptionOffsets(*map(copy.moved, place)) for o, place in made.offsets.items()
            }
            made = replace(made, offsets=offsets)
        if isinstance(made, CreateQuery) and other.creates:
            return replace(made, name=other.values[0].strip("`"))
        return made


class Templates:
    """The templates of the most recently parsed statements."""

    def __init__(self) -> None:
        self._fixed: dict[Any, tuple[int, ...]] = {}  # by shape, the values that cannot differ
        self._templates: dict[Any, Template] = {}

    def find(self, text: Text) -> Statement | None:
        """The statement of a text, from a template; None if there is none."""
        fixed = self._fixed.get(text.shape)
        if fixed is None or not text.is_plain():
            return None
        if text.creates and why_no_name(text.values[0].strip("`")) is not None:
            return None
        template = self._templates.get(_key(text, fixed))
        return None if template is None else template.filled(text)

    def learn(self, text: Text, statements: Sequence[Statement]) -> None:
        """Store the statement of a text as a template, if it can be one."""
        if len(statements) != 1 or not text.is_plain():
            return
        (statement,) = statements
        if not isinstance(statement, Parsed) or statement.sql != text.text.strip():
            return
        if statement.select.for_each is not None:
            return
        fixed = tuple(_fixed(text, statement))
        # equal for all texts of a shape: the text around the constants decides
        self._templates[_key(text, fixed)] = Template(text, statement)
        self._fixed[text.shape] = fixed
        for kept in (self._templates, self._fixed):
            if len(kept) > _KEPT:
                kept.pop(next(iter(kept)), None)  # the oldest


class _Copy:
    """Copies syntax trees with other constants and offsets.

    Args:
        values: the new constants by old offset, as written.
        ends: old offsets behind the values. shifts: offset differences before the first value,
            between the first and the second, and so on.
    """

    def __init__(
        self, values: Mapping[int, str], ends: Sequence[int], shifts: Sequence[int]
    ) -> None:
        self._values = values
        self._ends = ends
        self._shifts = shifts

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
        if isinstance(node, exp.Literal) and start in self._values:
            args["this"] = self._values[start].strip("'")
        made = type(node)(**args)
        made.meta["start"] = self.moved(start)
        made.meta["end"] = self.moved(node.meta["end"] + 1) - 1
        return made

    def moved(self, offset: int) -> int:
        """The offset in the copy of an offset in the original."""
        shift: int = self._shifts[bisect_right(self._ends, offset)]
        return offset + shift


def _kind(value: str) -> str:
    return "'" if value[0] == "'" else "." if "." in value else "1"


def _key(text: Text, fixed: tuple[int, ...]) -> object:
    return (text.shape, *(text.values[i] for i in fixed))


def _fixed(text: Text, statement: Parsed) -> list[int]:
    """The indexes of the values that belong to the fixed text."""
    constants = {n.meta.get("start"): n.this for n in statement.select.ast.find_all(exp.Literal)}
    slots = zip(text.values, text.starts, text.ends, strict=True)
    return [
        i
        for i, (value, start, end) in enumerate(slots)
        if not (
            constants.get(start) == value.strip("'")
            and _BEFORE.search(text.text[:start])
            and _BEHIND.match(text.text, end)
        )
        and not (text.creates and i == 0)
    ]
