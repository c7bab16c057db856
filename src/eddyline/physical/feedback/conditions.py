"""Conditions beyond equal keys, as those see them who ask for a row that meets them.

Source: Yang and Papadias 2008, section IV-A, whose components may match by any predicate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eddyline.algebra.expressions import ColumnRef, Expr, columns_of, conjuncts, shift_columns, walk
from eddyline.algebra.functions.user_defined import UserCall
from eddyline.algebra.plan import Join
from eddyline.optimizer.traversal import moved, substituted


@dataclass(frozen=True)
class Condition:
    """What a pair of rows must meet: ``expr`` is over the ``width`` columns of who asks, and then
    those of the input asked.
    """

    expr: Expr
    width: int

    @property
    def own(self) -> frozenset[int]:
        """Which columns of who asks it reads."""
        return frozenset(c for c in columns_of(self.expr) if c < self.width)

    def over_own(self, exprs: Sequence[Expr], width: int) -> Condition:
        """The same over ``width`` other columns, of which those of who asks are computed."""
        kept = {c.index: c for c in walk(self.expr) if isinstance(c, ColumnRef)}
        others = {i: replace(c, index=i - self.width + width) for i, c in kept.items()}
        places = {i: exprs[i] if i < self.width else others[i] for i in kept}
        return Condition(substituted(self.expr, places), width)

    def over_others(self, exprs: Sequence[Expr]) -> Condition:
        """The same where the columns of the input asked are computed from others."""
        shifted = [shift_columns(e, self.width) for e in exprs]
        kept = {c.index: c for c in walk(self.expr) if isinstance(c, ColumnRef)}
        places = {i: c if i < self.width else shifted[i - self.width] for i, c in kept.items()}
        return Condition(substituted(self.expr, places), self.width)

    def on_input(self, join: Join, side: int) -> Condition | None:
        """Of who asks, over the columns of one input of a join; None if it reads the other's."""
        first, last = span(join, side)
        if not all(first <= c < last for c in self.own):
            return None
        shift = self.width - (last - first)
        places = {c: c - (first if c < self.width else shift) for c in columns_of(self.expr)}
        return Condition(moved(self.expr, places), last - first)

    def of_input(self, join: Join, side: int) -> Condition | None:
        """Of a join asked, over the columns of one input; None if it reads the other's."""
        first, last = span(join, side)
        others = [c - self.width for c in columns_of(self.expr) if c >= self.width]
        if not all(first <= c < last for c in others):
            return None
        places = {c: c - (first if c >= self.width else 0) for c in columns_of(self.expr)}
        return Condition(moved(self.expr, places), self.width)


def conditions_of(join: Join, side: int) -> tuple[Condition, ...]:
    """What of a join's residual a row of one input can be asked about, by itself.

    Users' functions are not asked: they may take long, or fail for rows that never meet.
    """
    width, of_left = len(join.inputs[side].schema), len(join.left.schema)
    places = {c: (c + width) if c < of_left else c - of_left for c in range(len(join.schema))}
    found = []
    for term in conjuncts(join.residual):
        columns = columns_of(term)
        reads_both = 0 < sum(c < of_left for c in columns) < len(columns)
        if reads_both and not any(isinstance(e, UserCall) for e in walk(term)):
            found.append(Condition(term if side == 0 else moved(term, places), width))
    return tuple(found)


def span(join: Join, side: int) -> tuple[int, int]:
    """Which of a join's columns are those of one input: the first, and that behind the last."""
    width = len(join.left.schema)
    return (0, width) if side == 0 else (width, len(join.schema))
