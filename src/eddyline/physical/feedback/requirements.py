"""The requirements that the joins of a tree have on the rows below: the static part of feedback.

A row of one input of a join is useful only if every join further up has a match for it among the
rows of its other input, and none that is suspended there: what is not admitted admits nothing
(section III-C of the paper; along a chain of joins these are semi-joins). An input must be computed
before it is probed, so of two inputs that are joins themselves only one, the follower, probes the
results of the other, the leader. The leader may probe all rows of the streams below the follower,
suspended or not: each pair of them that is joined first must have two rows that join. That costs
more than a look-up, and is done where joins are expensive: with nested loops. docs/decisions/0013
shows that no result is lost.

Source: Yang and Papadias 2008, sections III and IV; the order of probes is ours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from eddyline.algebra.expressions import Expr, columns_of, shift_columns
from eddyline.algebra.plan import (
    Admitted,
    Distinct,
    Join,
    LookupJoin,
    LookupSemiJoin,
    Plan,
    Project,
    below_projections,
)
from eddyline.optimizer.estimates import estimate
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.traversal import substituted
from eddyline.physical.feedback.conditions import Condition, conditions_of, span
from eddyline.physical.patterns import row_ids_of
from eddyline.physical.strategy import Strategy

#: A node of a tree of joins: which input to take, from the top down.
Path: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Key:
    """Two expressions that must be equal: one over the columns of the row that probes, one over
    those of the input probed, which is the ``place``-th of the requirement.
    """

    own: Expr
    place: int
    other: Expr


@dataclass(frozen=True)
class Requirement:
    """A requirement on rows: a match in another input, or two that join, in two inputs.

    Attributes:
        inputs: these inputs.
        keys: equal in the row and its match; none: any row is a match.
        at_once: a match that is missing when a row arrives never arrives later.
        conditions: further conditions on the row and its match; none for two inputs.
        of_all: suspended rows are matches as well: their gates depend on the rows that probe.
    """

    inputs: tuple[Path, ...]
    keys: tuple[Key, ...]
    at_once: bool = False
    conditions: tuple[Condition, ...] = ()
    of_all: bool = False

    @property
    def terms(self) -> int:
        """The number of keys and conditions."""
        return len(self.keys) + len(self.conditions)


@dataclass(frozen=True)
class JoinTree:
    """Joins of joins, with whatever only filters, renames or drops duplicates between them.

    Attributes:
        joins: by path.
        inputs: their inputs, by path: joins below filters and projections, or leaves.
        requirements: on the rows of each input, of the nearest consumer first.
        wanted: the requirements on the rows of each join, over its own columns.
        nearest: the requirement of the next join on them, if its input probes.
    """

    joins: dict[Path, Join]
    inputs: dict[Path, Plan]
    requirements: dict[Path, tuple[Requirement, ...]]
    wanted: dict[Path, tuple[Requirement, ...]]
    nearest: dict[Path, Requirement]


#: The path of the table that the results of a tree look up.
TABLE: Final[Path] = (-1,)


def is_outside(path: Path) -> bool:
    """Whether these are rows that the results of a tree meet outside of it."""
    return bool(path) and path[0] < 0


def joins_between(path: Path, requirement: Requirement) -> int:
    """The number of joins between the one at a path and the one that requires matches of its rows:
    0 for the next one.
    """
    probed = requirement.inputs[0]
    if is_outside(probed):
        return len(path)
    depth = 0  # of the join whose inputs have both
    while path[depth] == probed[depth]:
        depth += 1
    return len(path) - depth - 1


def join_tree(
    root: Join, strategy: Strategy, above: LookupJoin | LookupSemiJoin | Admitted | None = None
) -> JoinTree:
    """The tree below a join; ``above``: the look-up join above it, or what its results meet."""
    tree = JoinTree({}, {}, {}, {}, {})
    wanted: tuple[Requirement, ...] = ()
    if isinstance(above, Admitted):
        wanted = requirements_of(above, tree)
    elif above is not None:
        tree.inputs[TABLE] = above.right
        keys = tuple(Key(own, 0, other) for own, other in above.keys)
        at_once = above.is_static  # to one that changes rows may be added
        wanted = (_lowered(Requirement((TABLE,), keys, at_once=at_once), above.left),)
    _visit(root, (), wanted, tree, strategy)
    return tree


def requirements_of(plan: Admitted, tree: JoinTree) -> tuple[Requirement, ...]:
    """The requirements on the rows of the plan's input; adds what they are about to a tree."""
    found = []
    for number, partners in enumerate(plan.partners, 1):
        path = (-number,)
        tree.inputs[path] = partners.plan
        found.append(
            Requirement((path,), tuple(Key(own, 0, other) for own, other in partners.keys))
        )
    return tuple(found)


def _visit(
    join: Join, path: Path, wanted: tuple[Requirement, ...], tree: JoinTree, strategy: Strategy
) -> None:
    """Add a join and all below to the tree; ``wanted`` is over its columns."""
    tree.joins[path], tree.wanted[path] = join, wanted
    probing = _probing(join, strategy.statistics)
    for side, plan in enumerate(join.inputs):
        below = (*path, side)
        tree.inputs[below] = plan
        passed = tuple(passed_on(d, join, side) for d in wanted)
        inner = join_below(plan)
        tree.requirements[below] = tuple(
            dict.fromkeys(d for d in passed if inner is None or _takes_both(d, plan))
        )
        if inner is None:
            continue
        requirement = Requirement(((*path, 1 - side),), ())
        if strategy.feedback != "doe":
            keys = tuple(Key(k[side], 0, k[1 - side]) for k in join.keys)
            requirement = replace(requirement, keys=keys, conditions=conditions_of(join, side))
        if side in probing:
            tree.nearest[below] = _lowered(requirement, plan)
            passed = (requirement, *passed)
        elif strategy.nested_loops and strategy.feedback != "doe":
            opposite = replace(requirement, of_all=True)
            passed = (*_of_leaves(join.inputs[1 - side], opposite), *passed)
        _visit(inner, below, tuple(_lowered(d, plan) for d in passed), tree, strategy)


def inner_join(plan: Plan) -> Join | None:
    """The join whose rows these are, filtered or renamed; None for a leaf of the tree, and that is
    also a join whose rows are put into a store.
    """
    if not row_ids_of(plan).stored:
        return None
    plan = below_projections(plan)
    return plan if isinstance(plan, Join) and not isinstance(plan, LookupJoin) else None


def join_below(plan: Plan) -> Join | None:
    """The join that feedback on a plan's rows is for: ``inner_join``, or that below a DISTINCT.

    Of the rows of a value either all have a match further up, or none has: the value is joined.
    """
    if (join := inner_join(plan)) is not None:
        return join
    below = below_projections(plan)
    if not isinstance(below, Distinct) or below.takes_back:
        return None
    return inner_join(below.input)


def _probing(join: Join, statistics: Statistics) -> set[int]:
    """The inputs of a join that are probed for matches among the other's rows."""
    inner = [side for side, plan in enumerate(join.inputs) if join_below(plan) is not None]
    if len(inner) < 2:
        return set(inner)
    rows = [estimate(plan, statistics).rows for plan in join.inputs]
    return {0} if rows[0] > rows[1] else {1}  # the larger follows


def _of_leaves(plan: Plan, requirement: Requirement) -> list[Requirement]:
    """The requirements on the leaves below a join that follow from one for its rows.

    They are weaker: each pair of leaves that join must have two rows that do, other leaves one row.
    """
    join = join_below(plan)
    if join is None:
        return [requirement]
    keys, conditions = requirement.keys, requirement.conditions
    while not isinstance(plan, Join):
        if isinstance(plan, Project):
            keys = tuple(replace(k, other=substituted(k.other, plan.exprs)) for k in keys)
            conditions = tuple(c.over_others(plan.exprs) for c in conditions)
        (plan,) = plan.inputs
    halves = []
    (path,) = requirement.inputs
    for side in (0, 1):
        own = (_over_input(k.other, join, side) for k in keys)
        found = [replace(k, other=o) for k, o in zip(keys, own, strict=True) if o is not None]
        met = [c for c in (c.of_input(join, side) for c in conditions) if c is not None]
        half = Requirement(((*path, side),), tuple(found), conditions=tuple(met), of_all=True)
        halves.append(half)
    is_pair = join.keys and all(join_below(i) is None for i in join.inputs)
    if is_pair and all(h.keys for h in halves):
        both = halves[0].keys + tuple(replace(k, place=1) for k in halves[1].keys)
        probed = halves[0].inputs + halves[1].inputs
        return [Requirement(probed, both, of_all=True), *(h for h in halves if h.conditions)]
    return [d for i, h in zip(join.inputs, halves, strict=True) for d in _of_leaves(i, h)]


def _over_input(expr: Expr, join: Join, side: int) -> Expr | None:
    """The expression over the columns of one input of a join; None if it reads the other's."""
    first, last = span(join, side)
    if not all(first <= c < last for c in columns_of(expr)):
        return None
    return shift_columns(expr, -first)


def passed_on(requirement: Requirement, join: Join, side: int) -> Requirement:
    """The part of a requirement on a join's rows that is a requirement on the rows of one input."""
    found = ((k, _over_input(k.own, join, side)) for k in requirement.keys)
    keys = tuple(replace(k, own=own) for k, own in found if own is not None)
    places = {k.place for k in keys}
    if len(requirement.inputs) == 2 and len(places) < 2:
        place = min(places, default=0)
        (probed, keys) = requirement.inputs[place], tuple(replace(k, place=0) for k in keys)
        return Requirement((probed,), keys, of_all=True)
    met = (c.on_input(join, side) for c in requirement.conditions)
    return replace(requirement, keys=keys, conditions=tuple(c for c in met if c is not None))


def _takes_both(requirement: Requirement, plan: Plan) -> bool:
    """Whether a requirement on a join's rows is more than those on its inputs."""
    inner = join_below(plan)
    assert inner is not None, "the plan is a join"
    lowered = _lowered(requirement, plan)
    return all(passed_on(lowered, inner, s).terms < requirement.terms for s in (0, 1))


def _lowered(requirement: Requirement, plan: Plan) -> Requirement:
    """A requirement on filtered or renamed rows, over the columns of the join that makes them."""
    keys, conditions = requirement.keys, requirement.conditions
    while not isinstance(plan, Join):
        if isinstance(plan, Project):
            width = len(plan.input.schema)
            keys = tuple(replace(k, own=substituted(k.own, plan.exprs)) for k in keys)
            conditions = tuple(c.over_own(plan.exprs, width) for c in conditions)
        (plan,) = plan.inputs
    return replace(requirement, keys=keys, conditions=conditions)
