"""Every error that Eddyline raises on purpose: one root, few kinds.

A message names the offender and what would have been valid.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

#: Characters of a line that an error shows at most.
_SHOWN: Final = 200
#: Maximum number of choices that an error lists.
_LISTED: Final = 20
_NEAREST: Final = 8


class EddylineError(Exception):
    """Root of all errors raised by Eddyline."""


class SqlError(EddylineError):
    """A statement cannot be parsed or bound.

    Attributes:
        line, column: 1-based position of the offending word, or None where there is no position.
        sql: the text in which the position counts, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        sql: str | None = None,
    ) -> None:
        self.message = message
        self.line = line
        self.column = column
        self.sql = sql
        super().__init__(self._render())

    def _render(self) -> str:
        if self.line is None or self.column is None:
            return self.message
        where = f"line {self.line}, column {self.column}: {self.message}"
        lines = (self.sql or "").splitlines()
        if not 1 <= self.line <= len(lines):
            return where
        text, place = _around(lines[self.line - 1], self.column - 1)
        pad = "".join("\t" if c == "\t" else " " for c in text[:place])
        return f"{where}\n  {text}\n  {pad}^"


def _around(line: str, at: int) -> tuple[str, int]:
    """What is shown of a line, and where in that the character ``at`` stands."""
    if len(line) <= _SHOWN:
        return line, at
    start = max(0, min(at - _SHOWN // 2, len(line) - _SHOWN))
    head, tail = "..." if start else "", "..." if start + _SHOWN < len(line) else ""
    return head + line[start : start + _SHOWN] + tail, at - start + len(head)


class UnsupportedError(SqlError):
    """A statement is well-formed SQL but outside the language that Eddyline runs."""


class CatalogError(EddylineError):
    """A stream, table, view or query of this name is missing, or exists already."""


class DataError(EddylineError):
    """Data as a whole does not fit the declared schema (single bad rows go to side outputs)."""


class StateError(EddylineError):
    """Saved state cannot be read, or does not belong to what is asked of it."""


class SetupError(EddylineError):
    """The machine lacks something Eddyline needs (Java, a package, a port)."""


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """A sentence that lists the valid choices, the nearest one first; of many the nearest ones.

    >>> did_you_mean("prise", ["price", "symbol"])
    "did you mean 'price'? valid: price, symbol"
    """
    names = sorted(set(choices))
    if not names:
        return "there is nothing to choose from"
    near = difflib.get_close_matches(word, names, n=1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    if len(names) <= _LISTED:
        return f"{hint}valid: {', '.join(names)}"
    nearest = difflib.get_close_matches(word, names, n=_NEAREST, cutoff=0.0)
    return f"{hint}nearest of {len(names)}: {', '.join(nearest)}"
