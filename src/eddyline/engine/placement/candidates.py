"""All placements that a query can have, by its plan, the options and the statistics."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from eddyline.algebra.catalog import Emit
from eddyline.algebra.expressions import walk
from eddyline.algebra.functions.user_defined import UserCall
from eddyline.algebra.plan import Plan
from eddyline.engine.placement.placement import FlowPlacement, Placement, TreePlacement
from eddyline.physical.flows import Sharing
from eddyline.physical.strategy import Strategy
from eddyline.sharing.flow_work import alike
from eddyline.sharing.grouping import decompose_emitted, decompose_grouped
from eddyline.sharing.matched import with_own_windows
from eddyline.sharing.reordering import joins_of
from eddyline.sharing.signature import Part, Signature, decompose

SHARED = "it shares the flow of its signature"
SAME_GROUPS = "it reads the groups of a query that groups the same rows"


@dataclass(frozen=True)
class Candidates:
    """The placements that a query can have.

    Attributes:
        shared: in flows, for a query that shares one; the one that shares most first.
        unshared: for a query that shares no flow.
        open_to: those of ``shared`` that an unshared query takes as soon as another query does.
        tree: as a tree, in the order of the plan.
        eddy: in a flow that can share an eddy with flows of other signatures; None: none can.
    """

    shared: tuple[FlowPlacement, ...]
    unshared: Placement
    open_to: tuple[FlowPlacement, ...]
    tree: TreePlacement
    eddy: FlowPlacement | None = None


def candidates(
    name: str, plan: Plan, emit: Emit, strategy: Strategy, sharing: Sharing, *, replaces: bool
) -> Candidates:
    """The placements that a query can have.

    Args:
        replaces: new rows of its result table replace older ones.
    """
    joins = joins_of(plan)
    tree = TreePlacement(plan, joins, () if joins is None else joins.orders)
    reason = _why_only_tree(emit, strategy, sharing)
    if reason is not None:
        return _only(replace(tree, why=reason))
    found = [(False, decompose(plan) if emit.adds_only else decompose_emitted(plan, emit))]
    if not strategy.explicit_above_negation(plan):
        found.append((True, decompose_grouped(plan, emit)))
    forms = [(g, parts) for g, parts in found if parts is not None]
    own = [(g, with_own_windows(*parts)) for g, parts in forms]
    if sharing.executor == "eddy":  # each runs in a flow at once, so this has to be the widest
        forms = [(g, mine or parts) for (g, parts), (_, mine) in zip(forms, own, strict=True)]
    else:
        forms += [(g, mine) for g, mine in own if mine is not None]
    flow = [
        replace(
            in_flow(name, *parts, sharing, replaces=replaces),
            is_grouped=is_grouped,
            form=form,
            why=SHARED,
        )
        for form, (is_grouped, parts) in enumerate(forms)
    ]
    if not flow:
        return _only(replace(tree, why="it is no select-project-join query, grouped or not"))
    eddy = None
    if sharing.sharing and sharing.selections != "pull":
        eddy = next((p for p in flow if p.signature.joins_by_time), None)
    if sharing.executor == "eddy":
        return Candidates(tuple(flow), widest(flow), (), tree, eddy)
    first = flow[0]
    if not first.is_numbered and may_wait(first):
        unshared = replace(first, why=why_unshared(first))
        return Candidates(tuple(flow), unshared, (first,), tree, eddy)
    why = "no other query has its sources and join keys"
    if first.is_grouped:
        why += ", and groups as it does"
    return Candidates(tuple(flow), replace(tree, why=why), tuple(flow), tree, eddy)


def in_flow(
    name: str, signature: Signature, part: Part, sharing: Sharing, *, replaces: bool
) -> FlowPlacement:
    """The placement of a query in the flow of its signature."""
    flow = signature, None if sharing.sharing else name
    table: Hashable = part.outputs, part.above, part.emit, part.names, replaces
    return FlowPlacement(flow, table, signature, part, alike(part))


def widest(placements: Sequence[FlowPlacement]) -> FlowPlacement:
    """The placement that most other queries are likely to share: of those that group, there are
    more with conditions of their own on rows than on groups.
    """
    filtered = (p for p in placements if p.part.residual or any(p.part.filters))
    return next((p for p in filtered if p.is_grouped), placements[0])


def may_wait(flow: FlowPlacement) -> bool:
    """Whether conditions call functions of users, which a flow applies in the order of what they
    cost and reject, and behind its joins where that costs less.
    """
    terms = [term for terms in flow.part.filters for term in terms]
    if len(flow.signature.sources) == len(terms) == 1:
        return False
    return any(isinstance(e, UserCall) for term in terms for e in walk(term))


def why_unshared(flow: FlowPlacement) -> str:
    """The reason why a query that shares its flow with no other query runs in a flow."""
    if may_wait(flow):
        return "its conditions call functions, whose order and place are measured"
    return "the queries that shared its flow are gone"


def _only(tree: TreePlacement) -> Candidates:
    """The candidates of a query that runs in no flow."""
    return Candidates((), tree, (), tree)


def _why_only_tree(emit: Emit, strategy: Strategy, sharing: Sharing) -> str | None:
    """The reason why queries with these options run as trees only; None: they need not."""
    if sharing.executor == "tree":
        return "executor is 'tree'"
    if emit.mode == "final":
        return f"{emit} is made by operators of its own"
    if not strategy.shares:
        return "the state option asks for operators of its own"
    return None
