"""Statements that differ in constants only are parsed once.

Thousands of standing queries are often one text with other constants, and parsing is the longest
part of adding one. So the syntax tree of a statement is kept, with the places of its constants; a
statement that has others there gets a copy of it, with its own constants and offsets.

A constant can differ where it means nothing but itself: behind an operator, say. Elsewhere, as in
``RANGE 5 MINUTES``, it is a part of the text.
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
from eddyline.sql.source import Source
from eddyline.sql.statements import CreateQuery, Place, SelectStatement, Statement

#: Longer texts are not looked at; and so many templates are kept.
LONGEST: Final = 10_000
_KEPT: Final = 16
#: CREATE QUERY with a name that is no keyword: it is quoted or has a digit.
_HEAD: Final = re.compile(r"CREATE QUERY (`\w+`|[A-Za-z_]\w*[0-9]) AS ")
_CONSTANT: Final = re.compile(r"('[^']*'|(?<![\w.`])[0-9]+(?:\.[0-9]+)?(?![\w.`]))")
_PLAIN_NAME: Final = re.compile(r"`\w+`")
#: What can make quotes and digits something else than constants.
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
    """The text of a statement, cut at its constants and at the name of the query that it creates.

    Attributes:
        values: what stands where texts of one shape differ. starts, ends: its offsets.
        shape: all else, with the kinds of the values.
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
        """Whether what looks like a constant is one."""
        body = self.text[self.ends[0] :] if self.creates else self.text
        return not _NOT_PLAIN.search(_PLAIN_NAME.sub("name", body))


@dataclass(frozen=True)
class Template:
    """A parsed statement, which others are made from."""

    text: Text
    statement: Parsed

    def filled(self, other: Text) -> Parsed:
        """The statement of another text, which differs in free values only."""
        select = self.statement.select
        grown = [new - old for new, old in zip(other.ends, self.text.ends, strict=True)]
        values = dict(zip(self.text.starts, other.values, strict=True))
        copy = _Copy(values, self.text.ends, [0, *grown])
        ast = copy.of(select.ast)
        assert isinstance(ast, exp.Query), "as the one that it copies"
        made = replace(
            self.statement,
            sql=other.text.strip(),
            select=replace(select, ast=ast, source=Source(other.text)),
        )
        if isinstance(made, CreateQuery):
            places = {o: Place(*map(copy.moved, place)) for o, place in made.places.items()}
            made = replace(made, places=places)
        if isinstance(made, CreateQuery) and other.creates:
            return replace(made, name=other.values[0].strip("`"))
        return made


class Templates:
    """The templates of the statements that were parsed last."""

    def __init__(self) -> None:
        self._fixed: dict[Any, tuple[int, ...]] = {}  # by shape, the values that cannot differ
        self._templates: dict[Any, Template] = {}

    def find(self, text: Text) -> Statement | None:
        """The statement of a text, if there is a template for it."""
        fixed = self._fixed.get(text.shape)
        if fixed is None or not text.is_plain():
            return None
        if text.creates and why_no_name(text.values[0].strip("`")) is not None:
            return None
        template = self._templates.get(_key(text, fixed))
        return None if template is None else template.filled(text)

    def learn(self, text: Text, statements: Sequence[Statement]) -> None:
        """Keep what a text was parsed to, if others can be made from it."""
        if len(statements) != 1 or not text.is_plain():
            return
        (statement,) = statements
        if not isinstance(statement, Parsed) or statement.sql != text.text.strip():
            return
        if statement.select.for_each is not None:
            return
        fixed = tuple(_fixed(text, statement))
        # the same for all of a shape: it says so by what surrounds the constants
        self._templates[_key(text, fixed)] = Template(text, statement)
        self._fixed[text.shape] = fixed
        for kept in (self._templates, self._fixed):
            if len(kept) > _KEPT:
                kept.pop(next(iter(kept)), None)  # the oldest


class _Copy:
    """Copies syntax trees with other constants.

    Args:
        values: by offset, as they are written.
        ends: the offsets behind what may have another length. shifts: of what comes before the
            first of them, between that and the second, and so on.
    """

    def __init__(
        self, values: Mapping[int, str], ends: Sequence[int], shifts: Sequence[int]
    ) -> None:
        self._values = values
        self._ends = ends
        self._shifts = shifts

    def of(self, node: exp.Expr) -> exp.Expr:
        """The copy of a node and all below it."""
        copies: dict[int, exp.Expr] = {}
        for below in reversed(list(node.walk(bfs=False))):  # operands before what they are of
            copies[id(below)] = self._copy(below, copies)
        return copies[id(node)]

    def _copy(self, node: exp.Expr, copies: Mapping[int, exp.Expr]) -> exp.Expr:
        """The copy of a node over those of its operands."""
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
        """Where in the copy stands what stands there."""
        shift: int = self._shifts[bisect_right(self._ends, offset)]
        return offset + shift


def _kind(value: str) -> str:
    return "'" if value[0] == "'" else "." if "." in value else "1"


def _key(text: Text, fixed: tuple[int, ...]) -> object:
    return (text.shape, *(text.values[i] for i in fixed))


def _fixed(text: Text, statement: Parsed) -> list[int]:
    """The values that belong to the text: they are no constants of the tree, or mean more."""
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
