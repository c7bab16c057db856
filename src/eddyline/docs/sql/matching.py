"""Whether a text follows the grammar, and which of its alternatives it takes.

Parts of the grammar that a text can take or leave are *branches*: each alternative of a choice,
what is optional, and what is repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from eddyline.docs.sql.grammar import (
    TERMINALS,
    Choice,
    Expression,
    Optional,
    Reference,
    Repeated,
    Rule,
    Sequence,
    Sign,
    Word,
)

#: The rule, and where in its expression.
Branch: TypeAlias = tuple[str, tuple[int, ...]]
_Taken: TypeAlias = frozenset[Branch]

_TOKEN: Final = re.compile(
    r"""\s+ | --[^\n]* | /\*.*?\*/
    | (?P<code>\$(\w*)\$.*?\$\2\$)
    | (?P<string>[rR]?'(?:[^'\\]|''|\\.)*')
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)
    | (?P<sign><=>|->>|->|=>|<=|>=|<>|!=|==|::|\|\||<<|~\*|[^\s\w])""",
    re.VERBOSE | re.DOTALL,
)
#: Words that are no names of columns or aliases unless they are quoted.
RESERVED: Final = frozenset(
    [
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP",
        "HAVING",
        "QUALIFY",
        "ORDER",
        "LIMIT",
        "UNION",
        "INTERSECT",
        "EXCEPT",
        "MINUS",
        "JOIN",
        "ON",
        "USING",
        "AND",
        "OR",
        "NOT",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "AS",
        "EMIT",
        "LEFT",
        "RIGHT",
        "FULL",
        "INNER",
        "CROSS",
        "ASOF",
        "LATERAL",
        "WITH",
        "BETWEEN",
        "IN",
        "LIKE",
        "ILIKE",
        "RLIKE",
        "IS",
        "MATCH_RECOGNIZE",
        "FETCH",
        "UNNEST",
        "VALUES",
    ]
)


def tokens(text: str) -> list[tuple[str, str]]:
    """The kind and the text of each token; comments are left out."""
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None, text[at:]
        at = match.end()
        if match.lastgroup is not None:
            found.append((match.lastgroup, match.group()))
    return found


def branches(rule: Rule) -> Iterator[Branch]:
    """All branches of a rule."""
    for at, _ in _branches(rule.expression, ()):
        yield rule.name, at


def branch_text(rule: Rule, branch: Branch) -> str:
    """What a branch is, for messages."""
    return next(str(part) for at, part in _branches(rule.expression, ()) if at == branch[1])


def _branches(
    part: Expression, at: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], Expression]]:
    match part:
        case Sequence(parts):
            for n, inner in enumerate(parts):
                yield from _branches(inner, (*at, n))
        case Choice(parts):
            for n, inner in enumerate(parts):
                yield (*at, n), inner
                yield from _branches(inner, (*at, n))
        case Optional(inner) | Repeated(inner):
            yield (*at, 0), inner
            yield from _branches(inner, (*at, 0))


class Matcher:
    """Matches one text with rules."""

    def __init__(self, rules: Mapping[str, Rule], text: str) -> None:
        self._rules = rules
        self._tokens = tokens(text)
        self._known: dict[tuple[str, int], dict[int, _Taken]] = {}
        self.furthest = 0

    def taken(self, rule: str) -> _Taken | None:
        """The branches that the whole text takes; None: it does not follow the rule."""
        return self._of_rule(rule, 0).get(len(self._tokens))

    def rest(self) -> str:
        """The text from the first token that nothing matches, for messages."""
        return " ".join(text for _, text in self._tokens[self.furthest : self.furthest + 8])

    def _of_rule(self, name: str, start: int) -> dict[int, _Taken]:
        """The ends of all matches from a token on, and the branches of one match to each end."""
        key = name, start
        if key not in self._known:
            self._known[key] = {}  # a rule does not begin with itself
            self._known[key] = self._of(self._rules[name].expression, start, (name, ()))
        return self._known[key]

    def _of(self, part: Expression, start: int, place: Branch) -> dict[int, _Taken]:
        name, at = place
        match part:
            case Sign(">>"):  # two tokens: types end so, too
                both = self._is(Sign(">"), start) and self._is(Sign(">"), start + 1)
                return {start + 2: frozenset()} if both else {}
            case Word() | Sign():
                return {start + 1: frozenset()} if self._is(part, start) else {}
            case Reference(rule) if rule in TERMINALS:
                return {start + 1: frozenset()} if self._is_terminal(rule, start) else {}
            case Reference(rule):
                return self._of_rule(rule, start)
            case Sequence(parts):
                ends: dict[int, _Taken] = {start: frozenset()}
                for n, inner in enumerate(parts):
                    ends = self._after(ends, inner, (name, (*at, n)))
                return ends
            case Choice(parts):
                found: dict[int, _Taken] = {}
                for n, inner in enumerate(parts):
                    here = name, (*at, n)
                    for end, taken in self._of(inner, start, here).items():
                        found.setdefault(end, taken | {here})
                return found
            case Optional(inner) | Repeated(inner):
                return self._any_times(inner, start, (name, (*at, 0)), isinstance(part, Repeated))

    def _after(
        self, ends: Mapping[int, _Taken], part: Expression, place: Branch
    ) -> dict[int, _Taken]:
        found: dict[int, _Taken] = {}
        for middle, before in ends.items():
            for end, taken in self._of(part, middle, place).items():
                found.setdefault(end, before | taken)
        return found

    def _any_times(
        self, part: Expression, start: int, place: Branch, repeated: bool
    ) -> dict[int, _Taken]:
        found: dict[int, _Taken] = {start: frozenset()}
        new: dict[int, _Taken] = dict(found)
        while new:
            ends = {e: t | {place} for e, t in self._after(new, part, place).items()}
            new = {e: t for e, t in ends.items() if e not in found}
            found.update(new)
            if not repeated:
                break
        return found

    def _is(self, part: Word | Sign, at: int) -> bool:
        if at >= len(self._tokens):
            return False
        self.furthest = max(self.furthest, at)
        kind, text = self._tokens[at]
        if isinstance(part, Sign):
            return text == part.text
        text = text.upper()
        return kind == "word" and (text == part.text or (part.plural and text == part.text + "S"))

    def _is_terminal(self, terminal: str, at: int) -> bool:
        if at >= len(self._tokens):
            return False
        self.furthest = max(self.furthest, at)
        kind, text = self._tokens[at]
        if terminal == "name":
            return kind == "quoted" or (kind == "word" and text.upper() not in RESERVED)
        if terminal == "integer":
            return kind == "number" and text.isdigit()
        return kind == terminal
