"""Where a query can run with others: in the flow of its signature, and grouped with those alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eddyline.engine.execution.shared_flow import table_key
from eddyline.engine.query import Query
from eddyline.optimizer.statistics import Statistics
from eddyline.physical.flows import Sharing
from eddyline.physical.strategy import Strategy
from eddyline.sharing.grouping import grouped_apart
from eddyline.sharing.reordering import joins_of
from eddyline.sharing.signature import Part, Signature, decompose


@dataclass(frozen=True)
class Place:
    """Where a query can run with others.

    Attributes:
        flow: what queries have in common that run in one flow.
        shape: what those have in common that are grouped together; None if it does not group.
    """

    flow: object
    shape: object
    signature: Signature
    part: Part

    @property
    def key(self) -> object:
        """What queries have in common that share all that can be shared there."""
        return self.flow if self.shape is None else (self.flow, self.shape)


def places_of(query: Query, strategy: Strategy, sharing: Sharing) -> tuple[list[Place], str]:
    """Where the query can run with others, those first where it shares most; and why it runs as
    it does if there are none.
    """
    if sharing.executor == "tree":
        return [], "executor is 'tree'"
    if query.emit.mode != "inserts":
        return [], f"{query.emit} is made by operators of its own"
    if not strategy.shares:
        return [], "the state option or views ask for operators of its own"
    grouped = not strategy.explicit_above_negation(query.plan)
    found = [decompose(query.plan), grouped_apart(query.plan) if grouped else None]
    places = [_place(query, *f, sharing) for f in found if f is not None]
    why = "" if places else "it is no select-project-join query, grouped or not"
    return places, why


def _place(query: Query, signature: Signature, part: Part, sharing: Sharing) -> Place:
    shape = None
    if part.above is not None:
        shape = table_key(part, replaces=query.replace_key is not None)
    return Place(flow_key(signature, query.name, sharing), shape, signature, part)


def flow_key(signature: Signature, name: str, sharing: Sharing) -> object:
    """What queries have in common that share a flow."""
    return signature, None if sharing.sharing else name


def widest(places: Sequence[Place]) -> Place:
    """The place that most other queries are likely to share: of those that group, there are more
    with conditions of their own on rows than on groups.
    """
    filtered = (p for p in places if p.part.residual or any(p.part.filters))
    return next((p for p in filtered if p.shape is not None), places[0])


def order_is_a_guess(query: Query, place: Place, statistics: Statistics) -> bool:
    """Whether a query joins several streams in an order that nothing speaks for."""
    if len(place.signature.sources) < 3:
        return False
    joins = joins_of(query.plan)
    return joins is None or not joins.graph.is_known(statistics)
