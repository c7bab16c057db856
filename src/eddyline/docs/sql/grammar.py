"""The grammar of SQL as data, read from ``grammar.txt``.

A rule is ``name = expression``, and may go on in indented lines. Words in upper case are keywords;
``SECOND(S)`` may have the S or not. What is in double quotes is a sign. Words in lower case are
rules, or one of TERMINALS. ``[ ]`` is optional, ``{ }`` may be repeated or left out, ``|`` divides
alternatives, ``( )`` groups.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

_FILE: Final = Path(__file__).with_name("grammar.txt")
#: What is one token of a text.
TERMINALS: Final = ("name", "string", "number", "integer", "code")
_TOKEN: Final = re.compile(r'\s*("[^"]+"|[A-Z_]+(?:\(S\))?|[a-z_]+|[\[\]{}()|])')


@dataclass(frozen=True)
class Word:
    """A keyword; with ``plural`` it may end in S."""

    text: str
    plural: bool = False


@dataclass(frozen=True)
class Sign:
    """Other characters than words."""

    text: str


@dataclass(frozen=True)
class Reference:
    """A rule, or a terminal."""

    name: str


@dataclass(frozen=True)
class Sequence:
    """Parts, one after the other."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Choice:
    """One of several parts."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Optional:
    """A part that may be left out."""

    part: Expression


@dataclass(frozen=True)
class Repeated:
    """A part that is there any number of times, or not at all."""

    part: Expression


Expression: TypeAlias = Word | Sign | Reference | Sequence | Choice | Optional | Repeated


@dataclass(frozen=True)
class Rule:
    """A rule with its name, the text of its right side, and what that means."""

    name: str
    text: str
    expression: Expression


@dataclass(frozen=True)
class Section:
    """A part of a page: its title, text in Markdown, and rules."""

    page: str
    title: str
    text: str
    rules: tuple[Rule, ...]


def sections() -> list[Section]:
    """The sections of the grammar, in their order."""
    found = []
    page = ""
    for block in re.split(r"^(?==)", _FILE.read_text(encoding="utf-8"), flags=re.M)[1:]:
        head, _, body = block.partition("\n")
        if head.startswith("=="):
            found.append(_section(page, head.strip("= "), body))
        else:
            page = head.strip("= ")
    return found


def rules() -> dict[str, Rule]:
    """All rules by name."""
    listed = [rule for section in sections() for rule in section.rules]
    found = {rule.name: rule for rule in listed}
    assert len(found) == len(listed), "a rule has one definition"
    return found


def _section(page: str, title: str, body: str) -> Section:
    made, text = [], []
    for part in re.split(r"\n(?=\S)", body):
        name, equals, right = part.partition(" = ")
        if equals and re.fullmatch(r"[a-z_]+", name):
            right = re.sub(r"\n\s+", "\n", right.strip())
            made.append(Rule(name, right, _Reader(right).expression()))
        else:
            text.append(part)
    return Section(page, title, "\n".join(text).strip(), tuple(made))


class _Reader:
    """Reads the right side of a rule."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        assert "".join(self._tokens) == re.sub(r"\s", "", text), f"not read: {text}"
        self._at = 0

    def expression(self) -> Expression:
        parts = self._choice()
        assert self._at == len(self._tokens), f"not read: {self._tokens[self._at :]}"
        return parts

    def _choice(self) -> Expression:
        parts = [self._sequence()]
        while self._next() == "|":
            self._at += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _sequence(self) -> Expression:
        parts = []
        while self._next() not in ("", "|", ")", "]", "}"):
            parts.append(self._part())
        assert parts, f"an empty alternative: {self._tokens}"
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _part(self) -> Expression:
        token = self._next()
        self._at += 1
        match token:
            case "[":
                return Optional(self._closed())
            case "{":
                return Repeated(self._closed())
            case "(":
                return self._closed()
        if token.startswith('"'):
            return Sign(token[1:-1])
        if token.islower():
            return Reference(token)
        return Word(token.removesuffix("(S)"), token.endswith("(S)"))

    def _closed(self) -> Expression:
        inner = self._choice()
        self._at += 1
        return inner

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""
