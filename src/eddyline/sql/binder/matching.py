"""Conditions on pairs of rows, split into equality keys, one-sided terms and the rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eddyline.algebra import functions
from eddyline.algebra.expressions import (
    AggregateCall,
    Call,
    Expr,
    Literal,
    columns_of,
    conjuncts,
    shift_columns,
    walk,
)

#: Equality keys: pairs of an expression over the left schema and one over the right schema.
EqualityKeys = tuple[tuple[Expr, Expr], ...]


@dataclass(frozen=True)
class Match:
    """The conjuncts of a condition on a left and a right row, by the columns that they read.

    Attributes:
        width: number of columns of the left row.
        keys: pairs of expressions that must be equal.
        left, right: terms over columns of one row only.
        both: the other terms, also those without columns.
    """

    width: int
    keys: EqualityKeys
    left: tuple[Expr, ...]
    right: tuple[Expr, ...]
    both: tuple[Expr, ...]

    @property
    def on_right(self) -> tuple[Expr, ...]:
        """The terms on the right row, over the right schema (the others are over left + right)."""
        return tuple(shift_columns(t, -self.width) for t in self.right)


def matched(conditions: Iterable[Expr], width: int) -> Match:
    """Split conditions over left + right columns; ``width``: number of left columns."""
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
    """``left`` or ``right`` if an expression reads one row only, else ``both``. Aggregates are of
    the enclosing SELECT.
    """
    sides = {"left" if i < width else "right" for i in columns_of(expr)}
    if any(isinstance(e, AggregateCall) for e in walk(expr)):
        sides.add("left")
    return sides.pop() if len(sides) == 1 else "both"
