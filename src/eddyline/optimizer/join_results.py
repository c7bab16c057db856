"""Corrects the estimated results of joins by the results that running joins have had.

The estimate of a join assumes uniform and independent values. If half of the rows of two streams
have the same one, it is wrong by orders of magnitude.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from eddyline.algebra.expressions import ColumnRef, Expr
from eddyline.algebra.per_node import per_node
from eddyline.algebra.plan import Filter, Join, Plan, Project, StreamScan, TableScan
from eddyline.optimizer.traversal import OncePerNode
from eddyline.types import FOREVER

#: A join with fewer results than these, expected and found, is not corrected.
LEAST_RESULTS: Final = 100
#: Relative change of a correction that matters.
_CHANGED: Final = 1.2

#: What a join compares: pairs of columns of streams or tables, in any order of the joins.
Pairs: TypeAlias = frozenset[tuple[str, ...]]


@dataclass
class _Count:
    """Results of a join.

    Attributes:
        factor: as a multiple of the estimate. before: so far, at the last look.
    """

    factor: float = 1.0
    before: int = 0


class JoinResults:
    """Learns how many results joins have.

    Args:
        results: how many a join has had so far; None: it does not run.

    Attributes:
        corrections: results as a multiple of the estimate, by join, and by what joins compare: in
            another order a plan has other joins of the same columns.
    """

    def __init__(self, results: Callable[[Join], int | None]) -> None:
        self._results = results
        self._counts: dict[Join, _Count] = {}
        self.corrections: dict[Plan | Pairs, float] = {}

    def look(
        self,
        plans: Iterable[Plan],
        expected: Callable[[Plan, Mapping[Join, float]], float],
        steady_us: float,
    ) -> bool:
        """Compare the results that joins have had since the last look with the estimate; joins
        that have been added since then are counted from now on.

        Args:
            expected: the estimated number of results of a join since then, given the factors of
                those below it.
            steady_us: for how long before that the same shares of rows had been kept; joins with
                longer windows are not corrected, as they held rows of other shares.

        Returns:
            Whether a correction has changed.
        """
        factors: dict[Join, float] = {}
        changed = False
        for join in dict.fromkeys(join for plan in plans for join in joins_of(plan)):
            results = None if join.takes_back else self._results(join)
            if results is None:
                continue
            count = self._counts.get(join)
            if count is None:
                self._counts[join], factors[join] = _Count(before=results), 1.0
                continue
            found, count.before = results - count.before, results
            estimate = expected(join, factors)
            is_steady = steady_us >= (FOREVER if join.lifespan_us is None else join.lifespan_us)
            if is_steady and max(found, estimate) >= LEAST_RESULTS and estimate > 0:
                factor, count.factor = count.factor, max(found, 1) / estimate
                changed |= not 1 / _CHANGED < count.factor / factor < _CHANGED
            factors[join] = count.factor
        self._counts = {join: self._counts[join] for join in factors}
        self.corrections = {}
        for join, factor in factors.items():
            self._correct(join, factor)
        return changed

    def _correct(self, join: Join, factor: float) -> None:
        if factor == 1.0:
            return
        self.corrections[join] = factor
        pairs = pairs_of(join)
        if pairs is not None:
            self.corrections[pairs] = factor

    def saved(self, plan: Plan) -> list[tuple[float, int] | None]:
        """For JSON: the factor of each join of a plan, and its results since the last look; None:
        there was none.
        """
        out: list[tuple[float, int] | None] = []
        for join in joins_of(plan):
            count, results = self._counts.get(join), self._results(join)
            if count is None or results is None:
                out.append(None)
            else:
                out.append((count.factor, results - count.before))
        return out

    def restore(self, plan: Plan, saved: Sequence[tuple[float, int] | None]) -> None:
        """Take over what ``saved`` returned for a plan that runs."""
        for join, record in zip(joins_of(plan), saved, strict=True):
            results = self._results(join)
            if record is None or results is None:
                continue
            factor, since = record
            self._counts[join] = _Count(factor, results - since)
            self._correct(join, factor)


@per_node
def joins_of(plan: Plan) -> tuple[Join, ...]:
    """The joins of a plan, each once, inputs first."""
    found: dict[Join, None] = {}

    def visit(below: Callable[[Plan], None], node: Plan) -> None:
        for part in node.inputs:
            below(part)
        if type(node) is Join:
            found[node] = None

    OncePerNode(visit)(plan)
    return tuple(found)


@per_node
def pairs_of(plan: Join) -> Pairs | None:
    """The columns that a join compares; None: it is not known, or other conditions are there."""
    if plan.residual is not None or not plan.keys:
        return None
    pairs = []
    for keys in plan.keys:
        ends = [_origin(key, side) for key, side in zip(keys, plan.inputs, strict=True)]
        if None in ends:
            return None
        pairs.append(tuple(sorted(end for end in ends if end is not None)))
    return frozenset(pairs)


def _origin(expr: Expr, plan: Plan) -> str | None:
    """The column of a stream or table that an expression is."""
    while isinstance(expr, ColumnRef):
        match plan:
            case StreamScan():
                return f"{plan.stream}.{plan.fields[expr.index].name}"
            case TableScan():
                return f"{plan.table}.{plan.fields[expr.index].name}"
            case Filter():
                plan = plan.input
            case Project():
                expr, plan = plan.exprs[expr.index], plan.input
            case Join():
                width = len(plan.left.schema)
                is_left = expr.index < width
                at = expr.index if is_left else expr.index - width
                expr = ColumnRef(expr.type, at, expr.name)
                plan = plan.left if is_left else plan.right
            case _:
                return None
    return None
