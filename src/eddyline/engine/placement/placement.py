"""How a query runs: as a tree of operators, or in a flow that other queries can share."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from eddyline.algebra.plan import Plan
from eddyline.physical.flows import EddyNumber
from eddyline.sharing.reordering import Joins, Orders, without_feedback, without_relays
from eddyline.sharing.signature import Part, Signature


@dataclass(frozen=True)
class FlowPlacement:
    """A query runs in a flow.

    Attributes:
        flow: key of the flow. table: key of the result table in it.
        signature, part: the query's plan, as what all queries of the flow have in common and what
            the query adds to it. kind: the part without its constants.
        is_grouped: whether the flow is of the rows below the lowest grouping of the query.
        form: the number of this placement among those that the query can have.
        number: of the query in operators above the flow that several queries share; None: the next
            free one.
        eddy: makes the joins of the flow with those of other signatures; None: it does so itself.
        why: the reason, for EXPLAIN and ``stats``.
    """

    flow: Hashable
    table: Hashable
    signature: Signature
    part: Part
    kind: Part
    is_grouped: bool = False
    form: int = 0
    number: int | None = None
    eddy: EddyNumber | None = None
    why: str = field(default="", compare=False)

    @property
    def is_numbered(self) -> bool:
        """Whether the results of the flow pass operators that tell queries apart by number."""
        return self.part.above is not None

    @property
    def key(self) -> Hashable:
        """What queries have in common that share all operators of this placement."""
        return (self.flow, self.table) if self.is_numbered else self.flow

    def in_eddy(self, eddy: EddyNumber, why: str) -> FlowPlacement:
        """The placement in a flow that shares an eddy."""
        return replace(self, flow=(self.signature, eddy), eddy=eddy, number=None, why=why)

    def runs_as(self, other: Placement | None) -> bool:
        """Whether another placement of the query has the same operators."""
        if not isinstance(other, FlowPlacement):
            return False
        return (self.flow, self.table) == (other.flow, other.table)


@dataclass(frozen=True)
class TreePlacement:
    """A query runs as a tree of operators.

    Attributes:
        plan: of the operators.
        joins: of the plan, if their order may change while it runs. orders: in which they run.
        all_changes: of a query that is read at ticks, whether it reads all changes of its groups;
            None: that is decided when it begins to run.
        feedback: joins may tell those below what they need. relays: so may those above inputs that
            take rows back, which no other query reads then.
        why: the reason, for EXPLAIN and ``stats``.
    """

    plan: Plan
    joins: Joins | None = None
    orders: Orders = ()
    all_changes: bool | None = field(default=None, compare=False)
    feedback: bool = True
    relays: bool = True
    why: str = field(default="", compare=False)

    def reordered(self, orders: Orders, why: str) -> TreePlacement:
        """The placement with its joins in other orders."""
        assert self.joins is not None, "only these joins change their order"
        plan = self.joins.plan(orders)
        plan = plan if self.feedback else without_feedback(plan)
        plan = plan if self.relays else without_relays(plan)
        return replace(self, plan=plan, orders=orders, why=why)

    def unrelayed(self) -> TreePlacement:
        """The placement over inputs that take rows back with all their rows."""
        return replace(self, plan=without_relays(self.plan), relays=False)

    def with_feedback(self, feedback: bool, why: str) -> TreePlacement:
        """The placement with its joins in the same order, with feedback or without; ``why`` follows
        the reason for the order.
        """
        assert self.orders, "of joins"
        why = f"{self.why.partition('; ')[0]}; {why}"
        return replace(self, feedback=feedback).reordered(self.orders, why)


Placement: TypeAlias = FlowPlacement | TreePlacement
