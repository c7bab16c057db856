"""Conditions on pairs of rows, taken apart: equalities between the two sides, and the rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eddyline.algebra import functions
from eddyline.algebra.expressions import (
    Call,
    Expr,
    Literal,
    columns_of,
    conjuncts,
    shift_columns,
)

#: Pairs of equal things: the first over the left schema, the second over the right one.
Keys = tuple[tuple[Expr, Expr], ...]


@dataclass(frozen=True)
class Match:
    """What the terms of a condition on a left and a right row read.

    Attributes:
        width: how many columns the left row has.
        keys: what has to be equal on the two sides.
        left, right: the terms that read one row alone.
        both: the other terms; also those that read no column.
    """

    width: int
    keys: Keys
    left: tuple[Expr, ...]
    right: tuple[Expr, ...]
    both: tuple[Expr, ...]

    @property
    def on_right(self) -> tuple[Expr, ...]:
        """The terms on the right row, over the right schema (the others are over left + right)."""
        return tuple(shift_columns(t, -self.width) for t in self.right)


def matched(conditions: Iterable[Expr], width: int) -> Match:
    """Take conditions over left + right columns apart; ``width`` counts the left columns."""
    keys: list[tuple[Expr, Expr]] = []
    terms: dict[str, list[Expr]] = {"left": [], "right": [], "both": []}
    for term in (t for c in conditions for t in conjuncts(c)):
        key = _key(term, width)
        if key is not None:
            keys.append(key)
        elif not (isinstance(term, Literal) and term.value is True):
            terms[_side(term, width)].append(term)
    left, right, both = (tuple(t) for t in terms.values())
    return Match(width, tuple(keys), left, right, both)


def _key(term: Expr, width: int) -> tuple[Expr, Expr] | None:
    if not (isinstance(term, Call) and term.function == "="):
        return None
    a, b = term.arguments
    for left, right in ((a, b), (b, a)):
        if _side(left, width) == "left" and _side(right, width) == "right":
            type_ = functions.common_type(left.type, right.type)
            return functions.cast(left, type_), shift_columns(functions.cast(right, type_), -width)
    return None


def _side(expr: Expr, width: int) -> str:
    """The one side that an expression reads; else ``both``."""
    sides = {"left" if i < width else "right" for i in columns_of(expr)}
    return sides.pop() if len(sides) == 1 else "both"
