"""Patterns of rows: regular expressions over variables, as values.

Variables are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

#: Most instructions of a program.
MAX_PROGRAM: Final = 2000


@dataclass(frozen=True, slots=True)
class Variable:
    """One row that satisfies a variable's condition."""

    number: int


@dataclass(frozen=True, slots=True)
class Sequenced:
    """Parts one behind the other."""

    parts: tuple[RowPattern, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of the parts; earlier ones are preferred."""

    parts: tuple[RowPattern, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """A part ``least`` to ``most`` times; ``most`` None: without a limit."""

    part: RowPattern
    least: int
    most: int | None
    greedy: bool


RowPattern: TypeAlias = Variable | Sequenced | Alternatives | Repeated


@dataclass(frozen=True, slots=True)
class Skip:
    """Where the search goes on behind a match.

    Attributes:
        to: past the last row, to the row behind the first one, or to the first or last row of
            ``variables``, which are bits.
    """

    to: Literal["past last", "next", "first", "last"]
    variables: int = 0
    name: str = ""

    def __str__(self) -> str:
        if self.to in ("first", "last"):
            return f"SKIP TO {self.to.upper()} {self.name}"
        return "SKIP PAST LAST ROW" if self.to == "past last" else "SKIP TO NEXT ROW"


def least_rows(pattern: RowPattern) -> int:
    """The fewest rows that a match has."""
    match pattern:
        case Variable():
            return 1
        case Sequenced():
            return sum(map(least_rows, pattern.parts))
        case Alternatives():
            return min(map(least_rows, pattern.parts))
        case Repeated():
            return pattern.least * least_rows(pattern.part)


def most_rows(pattern: RowPattern) -> int | None:
    """The most rows that a match has; None: there is no limit."""
    match pattern:
        case Variable():
            return 1
        case Sequenced() | Alternatives():
            counts = [most_rows(p) for p in pattern.parts]
            known = [c for c in counts if c is not None]
            if len(known) < len(counts):
                return None
            return sum(known) if isinstance(pattern, Sequenced) else max(known)
        case Repeated():
            inner = most_rows(pattern.part)
            return None if inner is None or pattern.most is None else pattern.most * inner


def variables_of(pattern: RowPattern) -> frozenset[int]:
    """The variables that a pattern contains."""
    match pattern:
        case Variable():
            return frozenset([pattern.number])
        case Sequenced() | Alternatives():
            return frozenset().union(*map(variables_of, pattern.parts))
        case Repeated():
            return variables_of(pattern.part)


def size_of(pattern: RowPattern) -> int:
    """The number of instructions of a pattern's program."""
    match pattern:
        case Variable():
            return 1
        case Sequenced():
            return sum(map(size_of, pattern.parts))
        case Alternatives():
            return sum(map(size_of, pattern.parts)) + 2 * (len(pattern.parts) - 1)
        case Repeated():
            copies = pattern.least + 1 if pattern.most is None else pattern.most
            return copies * (size_of(pattern.part) + 2)


def shown(pattern: RowPattern, names: Sequence[str]) -> str:
    """The text of a pattern."""
    match pattern:
        case Variable():
            return names[pattern.number]
        case Sequenced():
            return " ".join(_inner(p, names) for p in pattern.parts)
        case Alternatives():
            return " | ".join(shown(p, names) for p in pattern.parts)
        case Repeated():
            part = pattern.part
            text = shown(part, names)
            text = text if isinstance(part, Variable) else f"({text})"
            return text + _quantifier(pattern) + ("" if pattern.greedy else "?")


def _inner(pattern: RowPattern, names: Sequence[str]) -> str:
    text = shown(pattern, names)
    return f"({text})" if isinstance(pattern, (Alternatives, Sequenced)) else text


def _quantifier(pattern: Repeated) -> str:
    least, most = pattern.least, pattern.most
    signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if (least, most) in signs:
        return signs[least, most]
    if least == most:
        return f"{{{least}}}"
    return f"{{{least},{'' if most is None else most}}}"
