"""What the joins of a tree want of the rows below: the static side of feedback.

A row on one input of a join is of use only if every join further up has a row on its other side
that the row's own columns agree with. Who is asked must be computed before who asks, so of two
inputs that are joins themselves only one, the follower, asks what the other, the leader, has made.
The leader may ask the streams below the follower, of which nothing is ever held back: whether each
pair of them that is joined first has two rows for it that join. That is dearer than a look-up, and
done where joins are dear: with nested loops. docs/decisions/0013 argues why nothing is lost.

Source: Yang and Papadias 2008, sections III and IV; the order of asking is ours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from eddyline.algebra.expressions import Expr, columns_of, shift_columns
from eddyline.algebra.plan import Filter, Join, LookupJoin, LookupSemiJoin, Plan, Project
from eddyline.optimizer.estimates import estimate
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.traversal import substituted
from eddyline.physical.feedback.conditions import Condition, conditions_of, span
from eddyline.physical.patterns import is_stored
from eddyline.physical.strategy import Strategy

#: A node of a tree of joins: which input to take, from the top down.
Path: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Key:
    """Two expressions that must be equal: one over the columns of who asks, one over those of the
    input asked, the ``place``-th of a demand's.
    """

    own: Expr
    place: int
    other: Expr


@dataclass(frozen=True)
class Demand:
    """That there be a row of another input, or two that join, of two inputs.

    Attributes:
        asked: these inputs.
        keys: what the rows must agree on with who asks; none: any will do.
        at_once: what is not there when a row comes will never be.
        conditions: what a row must meet besides, with who asks; there are none where two are asked.
    """

    asked: tuple[Path, ...]
    keys: tuple[Key, ...]
    at_once: bool = False
    conditions: tuple[Condition, ...] = ()

    @property
    def terms(self) -> int:
        """How much is wanted of a row."""
        return len(self.keys) + len(self.conditions)


@dataclass(frozen=True)
class JoinTree:
    """Joins of joins, with whatever only filters and renames between them.

    Attributes:
        joins: by path.
        inputs: their inputs, by path: joins below filters and projections, or leaves.
        demands: what is wanted of the rows of each input, nearest consumers first.
        wanted: what is wanted of the rows of each join, over its own columns.
        nearest: what the next join wants of them, where it asks.
    """

    joins: dict[Path, Join]
    inputs: dict[Path, Plan]
    demands: dict[Path, tuple[Demand, ...]]
    wanted: dict[Path, tuple[Demand, ...]]
    nearest: dict[Path, Demand]


#: Where the table is that the results of a tree look up.
TABLE: Final[Path] = (-1,)


def join_tree(
    root: Join, strategy: Strategy, looked_up: LookupJoin | LookupSemiJoin | None = None
) -> JoinTree:
    """The tree below a join; ``looked_up``: whose rows look a table up."""
    tree = JoinTree({}, {}, {}, {}, {})
    wanted: tuple[Demand, ...] = ()
    if looked_up is not None:
        tree.inputs[TABLE] = looked_up.right
        keys = tuple(Key(own, 0, other) for own, other in looked_up.keys)
        at_once = looked_up.is_static  # to one that changes rows may be added
        wanted = (_lowered(Demand((TABLE,), keys, at_once=at_once), looked_up.left),)
    _visit(root, (), wanted, tree, strategy)
    return tree


def _visit(
    join: Join, path: Path, wanted: tuple[Demand, ...], tree: JoinTree, strategy: Strategy
) -> None:
    """Note a join and all below; ``wanted`` is over its columns."""
    tree.joins[path], tree.wanted[path] = join, wanted
    asking = _askers(join, strategy.statistics)
    for side, plan in enumerate(join.inputs):
        below = (*path, side)
        tree.inputs[below] = plan
        passed = tuple(passed_on(d, join, side) for d in wanted)
        inner = inner_join(plan)
        tree.demands[below] = tuple(
            dict.fromkeys(d for d in passed if inner is None or _takes_both(d, plan))
        )
        if inner is None:
            continue
        demand = Demand(((*path, 1 - side),), ())
        if strategy.feedback != "doe":
            keys = tuple(Key(k[side], 0, k[1 - side]) for k in join.keys)
            demand = replace(demand, keys=keys, conditions=conditions_of(join, side))
        if side in asking:
            tree.nearest[below] = _lowered(demand, plan)
            passed = (demand, *passed)
        elif strategy.nested_loops and strategy.feedback != "doe":
            passed = (*_of_leaves(join.inputs[1 - side], demand), *passed)
        _visit(inner, below, tuple(_lowered(d, plan) for d in passed), tree, strategy)


def inner_join(plan: Plan) -> Join | None:
    """The join whose rows these are, filtered or renamed; None for a leaf of the tree, and that is
    also a join whose rows are put into a store.
    """
    if not is_stored(plan):
        return None
    while isinstance(plan, (Filter, Project)):
        plan = plan.input
    return plan if isinstance(plan, Join) and not isinstance(plan, LookupJoin) else None


def _askers(join: Join, statistics: Statistics) -> set[int]:
    """Which inputs of a join ask for matches among the other's rows."""
    inner = [side for side, plan in enumerate(join.inputs) if inner_join(plan) is not None]
    if len(inner) < 2:
        return set(inner)
    rows = [estimate(plan, statistics).rows for plan in join.inputs]
    return {0} if rows[0] > rows[1] else {1}  # the larger follows


def _of_leaves(plan: Plan, demand: Demand) -> list[Demand]:
    """What a demand for a row of a join, which may not be asked, comes to for the leaves below.

    It is less: that each pair of leaves that join has two rows that do, and each other leaf one.
    """
    join = inner_join(plan)
    if join is None:
        return [demand]
    keys, conditions = demand.keys, demand.conditions
    while not isinstance(plan, Join):
        if isinstance(plan, Project):
            keys = tuple(replace(k, other=substituted(k.other, plan.exprs)) for k in keys)
            conditions = tuple(c.over_others(plan.exprs) for c in conditions)
        (plan,) = plan.inputs
    halves = []
    (path,) = demand.asked
    for side in (0, 1):
        own = (_over_input(k.other, join, side) for k in keys)
        found = [replace(k, other=o) for k, o in zip(keys, own, strict=True) if o is not None]
        met = [c for c in (c.of_input(join, side) for c in conditions) if c is not None]
        halves.append(Demand(((*path, side),), tuple(found), conditions=tuple(met)))
    is_pair = join.keys and all(inner_join(i) is None for i in join.inputs)
    if is_pair and all(h.keys for h in halves):
        both = halves[0].keys + tuple(replace(k, place=1) for k in halves[1].keys)
        asked = halves[0].asked + halves[1].asked
        return [Demand(asked, both), *(h for h in halves if h.conditions)]
    return [d for i, h in zip(join.inputs, halves, strict=True) for d in _of_leaves(i, h)]


def _over_input(expr: Expr, join: Join, side: int) -> Expr | None:
    """The expression over the columns of one input of a join; None if it reads the other's."""
    first, last = span(join, side)
    if not all(first <= c < last for c in columns_of(expr)):
        return None
    return shift_columns(expr, -first)


def passed_on(demand: Demand, join: Join, side: int) -> Demand:
    """What of a demand on a join's rows can be asked about the rows of one input."""
    found = ((k, _over_input(k.own, join, side)) for k in demand.keys)
    keys = tuple(replace(k, own=own) for k, own in found if own is not None)
    places = {k.place for k in keys}
    if len(demand.asked) == 2 and len(places) < 2:
        place = min(places, default=0)
        return Demand((demand.asked[place],), tuple(replace(k, place=0) for k in keys))
    met = (c.on_input(join, side) for c in demand.conditions)
    return replace(demand, keys=keys, conditions=tuple(c for c in met if c is not None))


def _takes_both(demand: Demand, plan: Plan) -> bool:
    """Whether a demand on a join's rows is more than its inputs have asked already."""
    inner = inner_join(plan)
    assert inner is not None, "the plan is a join"
    lowered = _lowered(demand, plan)
    return all(passed_on(lowered, inner, s).terms < demand.terms for s in (0, 1))


def _lowered(demand: Demand, plan: Plan) -> Demand:
    """A demand on filtered or renamed rows, over the columns of the join that makes them."""
    keys, conditions = demand.keys, demand.conditions
    while not isinstance(plan, Join):
        if isinstance(plan, Project):
            width = len(plan.input.schema)
            keys = tuple(replace(k, own=substituted(k.own, plan.exprs)) for k in keys)
            conditions = tuple(c.over_own(plan.exprs, width) for c in conditions)
        (plan,) = plan.inputs
    return replace(demand, keys=keys, conditions=conditions)
