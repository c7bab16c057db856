"""Conditions of joins beyond equal keys, as the probes of one input see them.

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
    """A condition on pairs of rows: ``expr`` is over the ``width`` columns of the row that probes,
    and then those of the input probed.
    """

    expr: Expr
    width: int

    @property
    def own(self) -> frozenset[int]:
        """The columns of the row that probes that it reads."""
        return frozenset(c for c in columns_of(self.expr) if c < self.width)

    def over_own(self, exprs: Sequence[Expr], width: int) -> Condition:
        """The same over ``width`` columns from which those of the row that probes are computed."""
        kept = {c.index: c for c in walk(self.expr) if isinstance(c, ColumnRef)}
        others = {i: replace(c, index=i - self.width + width) for i, c in kept.items()}
        places = {i: exprs[i] if i < self.width else others[i] for i in kept}
        return Condition(substituted(self.expr, places), width)

    def over_others(self, exprs: Sequence[Expr]) -> Condition:
        """The same where the columns of the input probed are computed from others."""
        shifted = [shift_columns(e, self.width) for e in exprs]
        kept = {c.index: c for c in walk(self.expr) if isinstance(c, ColumnRef)}
        places = {i: c if i < self.width else shifted[i - self.width] for i, c in kept.items()}
        return Condition(substituted(self.expr, places), self.width)

    def on_input(self, join: Join, side: int) -> Condition | None:
        """The same for rows of one input of a join; None if it reads the other's columns."""
        first, last = span(join, side)
        if not all(first <= c < last for c in self.own):
            return None
        shift = self.width - (last - first)
        places = {c: c - (first if c < self.width else shift) for c in columns_of(self.expr)}
        return Condition(moved(self.expr, places), last - first)

    def of_input(self, join: Join, side: int) -> Condition | None:
        """The same for probes of one input of a join; None if it reads the other's columns."""
        first, last = span(join, side)
        others = [c - self.width for c in columns_of(self.expr) if c >= self.width]
        if not all(first <= c < last for c in others):
            return None
        places = {c: c - (first if c >= self.width else 0) for c in columns_of(self.expr)}
        return Condition(moved(self.expr, places), self.width)


def conditions_of(join: Join, side: int) -> tuple[Condition, ...]:
    """The terms of a join's residual that rows of one input can be probed by.

    Terms with users' functions are left out: they may take long, or fail for rows that never meet.
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
    """The columns of a join that are those of one input: the first, and one more than the last."""
    width = len(join.left.schema)
    return (0, width) if side == 0 else (width, len(join.schema))
