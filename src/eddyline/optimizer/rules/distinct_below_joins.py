"""DISTINCT also below joins, so that what it keeps is what the join keeps.

Golab and Ozsu 2005, section 5.4.2 (Query 4 of its section 6 has this shape)::

    Distinct                                Project  a.src
      Project  a.src                          Join  a.src = b.src
        Join  a.src = b.src       ==>           Distinct
          a                                       Project  src
          b                                         a
                                                Distinct
                                                  Project  src
                                                    b

**Why it is right.** A value is in the answer iff some pair of rows gives it, and which pairs join,
and what they give, depends on the columns that the select list, the keys and the residual read. So
one row per combination of these columns is enough, on either side.

**When the upper Distinct is removed.** If both sides are distinct and the select list has all of
their columns, no two pairs give the same row. A key column with its partner in the list is not
needed there: the two are equal in every pair (a NULL key is in no pair). Equal floats may differ in
the sign of zero, but DISTINCT takes them for one value on either side, so this holds for them, too.

**When it pays.** The paper fires always. But where nearly every row has values of its own, the join
keeps as much as before and every row passes one more hash table; so each side is decided by cost.

Of a Distinct that is joined again the upper join gives feedback to the lower one, through the
Distinct; over two of them it would end there. The cost model does not know what feedback saves, so
a plan without it must cost a quarter: measured, plans that it puts at a third took 0.9 to 1.9 times
as long.

**Where it must not fire.**
- Over a strict input (ROWS windows, negation, changing tables) or GROUP BY: there duplicate
  elimination has to count all rows, and would save nothing.
- Where a non-retroactive table is joined: a result reflects it as it was at the result's own time,
  and when a row expires DISTINCT shows its duplicate at a later time than the duplicate's own.
- Over a table alone: its rows are stored once for all queries.
- Where something computed reads a float: DISTINCT keeps one of 0.0 and -0.0, and 1 / x differs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import pyarrow as pa

from eddyline.algebra.expressions import Call, ColumnRef, Expr, columns_of, walk
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import (
    Distinct,
    Filter,
    GroupBy,
    Join,
    Plan,
    Project,
    StreamScan,
    TableScan,
    below_projections,
    join,
)
from eddyline.algebra.reads import nodes
from eddyline.optimizer.cost import cost
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.optimizer.traversal import OncePerNode, Rule, moved, substituted

#: By what factor a plan must cost less, below a join that gives feedback.
_LEAST_GAIN: Final = 4.0
#: Functions with equal results for 0.0 and -0.0.
_COMPARISONS: Final = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>"})


def distinct_below_joins(
    plan: Plan, statistics: Statistics = UNKNOWN, prices: Prices = TYPICAL
) -> Plan:
    """Add a Distinct to the inputs of joins below a Distinct, where that costs less."""
    joins = (n for n in nodes(plan) if type(n) is Join and not n.takes_back)
    joined = {below_projections(p) for join in joins for p in join.inputs}

    def changed(rewritten: Rule, node: Plan) -> Plan:
        same = node.with_inputs(*map(rewritten, node.inputs))
        found = _distinct_join(node)
        if found is None:
            return same
        costs = {p: cost(p, statistics, prices).total for p in found.variants(rewritten)}
        cheapest = min(costs, key=lambda p: costs[p], default=same)
        gain = _LEAST_GAIN if node in joined else 1.0
        is_worth_it = gain * costs.get(cheapest, math.inf) < cost(same, statistics, prices).total
        return cheapest if is_worth_it else same

    return OncePerNode(changed)(plan)


@dataclass(frozen=True)
class _Side:
    """An input of the join: the plan, and which of the original columns it has, in order."""

    plan: Plan
    columns: tuple[int, ...]
    is_new: bool


@dataclass(frozen=True)
class _DistinctJoin:
    """Distinct(Project(Join)): the join, and the select list over its columns."""

    join: Join
    exprs: tuple[Expr, ...]
    names: tuple[str, ...]

    def variants(self, rewritten: Rule) -> Iterator[Plan]:
        """The plans with one or both sides distinct, whose inputs are rewritten in turn."""
        for left, right in product(self._choices(0, rewritten), self._choices(1, rewritten)):
            if left.is_new or right.is_new:
                yield self._over(left, right)

    def _choices(self, i: int, rewritten: Rule) -> Iterator[_Side]:
        """One side as it is, and distinct over the columns that matter if it may be."""
        plan, needed = self.join.inputs[i], self._needed(i)
        yield _Side(rewritten(plan), tuple(range(len(plan.schema))), is_new=False)
        if self._may_be_distinct(i, needed):
            yield _Side(rewritten(Distinct(_columns(plan, needed))), needed, is_new=True)

    @property
    def _start(self) -> tuple[int, int]:
        return 0, len(self.join.left.schema)

    @property
    def _over_both(self) -> list[Expr]:
        """The expressions over the columns of both sides."""
        return [*self.exprs, *([self.join.residual] if self.join.residual else [])]

    def _needed(self, i: int) -> tuple[int, ...]:
        """The columns of a side that the select list, the keys or the residual read, in order."""
        start, width = self._start[i], len(self.join.inputs[i].schema)
        read = {c - start for e in self._over_both for c in columns_of(e)}
        read |= {c for k in self.join.keys for c in columns_of(k[i])}
        return tuple(c for c in range(width) if c in read)

    def _may_be_distinct(self, i: int, needed: tuple[int, ...]) -> bool:
        plan = self.join.inputs[i]
        if not _expires_by_itself(plan) or (_is_distinct(plan) and _is_all(needed, plan)):
            return False
        floats = {c for c in needed if pa.types.is_floating(plan.schema[c].type)}
        computed = {c - self._start[i] for e in self._over_both for c in _computed_from(e)}
        computed |= {c for k in self.join.keys for c in _computed_from(k[i])}
        return not floats & computed

    def _over(self, left: _Side, right: _Side) -> Plan:
        places = [{old: new for new, old in enumerate(s.columns)} for s in (left, right)]
        start, width = self._start[1], len(left.columns)
        both = places[0] | {start + old: width + new for old, new in places[1].items()}
        residual = self.join.residual
        joined = join(
            left.plan,
            right.plan,
            tuple((moved(a, places[0]), moved(b, places[1])) for a, b in self.join.keys),
            None if residual is None else moved(residual, both),
        )
        project = Project(joined, tuple(moved(e, both) for e in self.exprs), self.names)
        return project if _is_distinct(project) else Distinct(project)


def _distinct_join(plan: Plan) -> _DistinctJoin | None:
    if not isinstance(plan, Distinct):
        return None
    exprs: tuple[Expr, ...] = _all_columns(plan)
    below = plan.input
    while isinstance(below, Project):
        exprs = tuple(substituted(e, below.exprs) for e in exprs)
        below = below.input
    if not isinstance(below, Join) or any(map(_is_non_retroactive, below.inputs)):
        return None
    return _DistinctJoin(below, exprs, tuple(f.name for f in plan.schema))


# -- what is known of a plan's rows ------------------------------------


def _is_distinct(plan: Plan) -> bool:
    """Whether no two rows alive together are equal."""
    if isinstance(plan, Distinct):
        return True
    if isinstance(plan, Filter):
        return _is_distinct(plan.input)
    if not isinstance(plan, Project):
        return False
    listed = {e.index for e in plan.exprs if isinstance(e, ColumnRef)}
    below = plan.input
    if isinstance(below, Join):
        if not all(map(_is_distinct, below.inputs)):
            return False
        width = len(below.left.schema)
        for a, b in below.keys:
            if isinstance(a, ColumnRef) and isinstance(b, ColumnRef):
                pair = {a.index, width + b.index}
                listed |= pair if listed & pair else set()
        return _is_all(listed, below)
    return _is_distinct(below) and _is_all(listed, below)


def _expires_by_itself(plan: Plan) -> bool:
    """Whether the rows come from streams, and none is ever taken back or replaced."""
    below = list(nodes(plan))
    return (
        plan.pattern != Pattern.STR
        and not any(isinstance(n, GroupBy) for n in below)
        and any(isinstance(n, StreamScan) for n in below)
    )


def _is_non_retroactive(plan: Plan) -> bool:
    return any(isinstance(n, TableScan) and n.updates == "non-retroactive" for n in nodes(plan))


# -- columns -----------------------------------------------------------


def _computed_from(expr: Expr) -> frozenset[int]:
    """The columns from which something is computed, other than by comparing them."""
    return frozenset(
        a.index
        for e in walk(expr)
        if isinstance(e, Call) and e.function not in _COMPARISONS
        for a in e.args
        if isinstance(a, ColumnRef)
    )


def _is_all(columns: Collection[int], plan: Plan) -> bool:
    return set(columns) == set(range(len(plan.schema)))


def _all_columns(plan: Plan) -> tuple[ColumnRef, ...]:
    return tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema))


def _columns(plan: Plan, columns: Sequence[int]) -> Plan:
    """The plan with some of its columns, in order."""
    exprs = _all_columns(plan)
    if _is_all(columns, plan):
        return plan
    return Project(plan, tuple(exprs[c] for c in columns), tuple(exprs[c].name for c in columns))
