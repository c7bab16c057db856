"""Queries that are alone with their signature: they could share a flow, but with nobody so far.

Those that join three streams or more change between a flow and a tree; ``adaptive.py`` says when.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from eddyline.algebra.plan import StreamScan
from eddyline.engine.execution.execution import Execution
from eddyline.engine.execution.subscriptions import rows_seen
from eddyline.engine.placement.adaptive import (
    Steadiness,
    best_order,
    joins_below,
    until_changed,
    until_steady,
)
from eddyline.engine.placement.candidates import Place
from eddyline.engine.placement.orders import Orders
from eddyline.engine.placement.ways import Way
from eddyline.engine.query import Query
from eddyline.runtime.graph import in_order
from eddyline.sharing.trees import tree_of


@dataclass
class Loner:
    """A query that has no other one to share a flow with.

    Attributes:
        order: of its joins, if it has become a tree. watched: the fan-outs of its joins.
    """

    query: Query
    place: Place
    order: tuple[int, ...] | None = None
    watched: Steadiness = field(default_factory=until_steady)


class Loners:
    """The queries that are alone, by the key of the place that they could share.

    Args:
        execution: where they run. orders: of those that run as trees of their plans.
    """

    def __init__(self, execution: Execution, orders: Orders) -> None:
        self._execution = execution
        self._orders = orders
        self._by_key: dict[object, Loner] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def __len__(self) -> int:
        return len(self._by_key)

    def add(self, query: Query, places: Sequence[Place]) -> None:
        """A query has come that runs alone. Who is alone in one of its places already stays so."""
        self._by_key = {p.key: Loner(query, p) for p in places} | self._by_key

    def add_last(self, query: Query, place: Place) -> None:
        """The other queries of its flow are gone."""
        self._by_key[place.key] = Loner(query, place)

    def plant(self, query: Query, place: Place, order: tuple[int, ...]) -> None:
        """Let a query that comes run alone as a tree that joins in this order."""
        self._by_key[place.key] = Loner(query, place)
        self._become_tree(place.key, order)

    def remove(self, query: Query) -> None:
        """It is alone no more, or gone."""
        self._by_key = {k: a for k, a in self._by_key.items() if a.query is not query}

    def meet(self, key: object) -> None:
        """A query comes to share this place: whoever is alone there gets a seat as well."""
        if key in self._by_key:
            query = self._by_key[key].query
            self._become_eddy(key, "it shares the flow of its signature")
            self.remove(query)

    def adapt(self) -> list[Query]:
        """Let those change whose fan-outs say so.

        Returns:
            Those that have become trees.
        """
        planted = []
        for key, alone in self._by_key.items():
            if alone.place.shape is not None or len(alone.place.signature.sources) < 3:
                continue
            if alone.query.name in self._orders.running:
                continue
            operators = in_order([alone.query.operator])
            if alone.order is None:
                flow = self._execution.flows[key].flow
                if alone.watched.look(rows_seen(operators[-1]), flow.fan_outs):
                    self._become_tree(key, best_order(flow))
                    planted.append(alone.query)
            elif alone.watched.look(rows_seen(operators[-1]), joins_below(operators[-1])) is False:
                self._become_eddy(key, "the fan-outs of its joins have changed")
        return planted

    def ways(self) -> dict[str, Way]:
        """By name, in which order those join that have become trees."""
        loners = self._by_key.values()
        return {a.query.name: a.order for a in loners if a.order is not None}

    def _become_eddy(self, key: object, why: str) -> None:
        """Let a query run in a flow."""
        alone = self._by_key[key]
        query, alone.order, alone.watched = alone.query, None, until_steady()
        query.why = why
        if query.flow is None:
            self._orders.forget(query)
            self._execution.to_flow(query, alone.place)

    def _become_tree(self, key: object, order: tuple[int, ...]) -> None:
        """Let a query run as a tree that joins in this order."""
        alone = self._by_key[key]
        query, alone.order, alone.watched = alone.query, order, until_changed()
        signature, part = alone.place.signature, alone.place.part
        sources = [signature.sources[i] for i in order]
        names = ", ".join(s.stream for s in sources if isinstance(s, StreamScan))
        query.why = f"its joins have steady fan-outs; order: {names}"
        plan = tree_of(signature, part, order)
        if query.flow is None:
            self._execution.add_tree(query, plan)
        else:
            self._execution.to_tree(query, plan)
