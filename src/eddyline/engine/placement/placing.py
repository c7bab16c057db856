"""How each query runs: as a tree of operators, or with a seat in the flow of its signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eddyline.engine.execution.execution import Execution
from eddyline.engine.execution.shared_flow import SharedFlow
from eddyline.engine.placement.alone import Loners
from eddyline.engine.placement.candidates import (
    Place,
    flow_key,
    order_is_a_guess,
    places_of,
    widest,
)
from eddyline.engine.placement.orders import Orders
from eddyline.engine.placement.ways import InOrder, Way, way_of
from eddyline.engine.query import Query
from eddyline.physical.flows import Sharing
from eddyline.physical.strategy import Strategy
from eddyline.sharing.grouping import lowest_grouping
from eddyline.sharing.signature import Signature


class Placing:
    """Decides how each query runs, when it comes and while it stands.

    Args:
        queries: all that stand, by name. execution: where they run.
        orders: of those that run as trees of joins.

    Attributes:
        alone: the queries that could share a flow, but with nobody so far.
    """

    def __init__(
        self,
        queries: Mapping[str, Query],
        execution: Execution,
        orders: Orders,
        strategy: Strategy,
        sharing: Sharing,
    ) -> None:
        self.alone = Loners(execution, orders)
        self._queries = queries
        self._execution = execution
        self._orders = orders
        self._strategy = strategy
        self._sharing = sharing

    def start(self, query: Query, way: Way | None) -> None:
        """Run a query: in this way, or as the options say."""
        places, query.why = places_of(query, self._strategy, self._sharing)
        if way == "eddy":
            places = [p for p in places if p.shape is None]
        is_tree = way == "tree" or isinstance(way, InOrder)
        taken = next((p for p in places if not is_tree and self._is_taken(query, p)), None)
        if not places or (way == "tree" and self._never_alone_as_tree(query, places[0])):
            self._orders.plant(query, way)
        elif isinstance(way, tuple):
            self.alone.plant(query, places[0], way)
        elif isinstance(way, int):
            self._share(query, places[-1], way)
        elif taken is not None:
            self._share(query, taken)
        elif self._sharing.executor == "eddy":
            self._share(query, widest(places))
        else:
            self._start_alone(query, places, way)

    def stop(self, query: Query) -> None:
        """Free what nobody else needs."""
        self._orders.forget(query)
        shared = query.flow
        self._execution.stop(query)
        if shared is not None:
            self._look_for_the_last(shared)
        self.alone.remove(query)

    def flow_key(self, query: Query, signature: Signature) -> object:
        """The key of the flow of a signature, which this query is about to share."""
        key = flow_key(signature, query.name, self._sharing)
        self.alone.meet(key)
        return key

    def adapt(self) -> list[Query]:
        """Between two chunks, choose anew how queries run: those that are alone with their
        signatures, and trees whose joins are cheaper in another order.

        Returns:
            Those that have become trees: what they had to report with their flow is their own now.
        """
        planted = self.alone.adapt()
        self._orders.adapt()
        return planted

    def ways(self) -> dict[str, Way]:
        """By name, how each query runs: what ``start`` takes to run it like that again."""
        ways = {n: way_of(q) for n, q in self._queries.items()}
        return {**ways, **self.alone.ways(), **self._orders.ways()}

    def _is_taken(self, query: Query, place: Place) -> bool:
        """Whether there is another query in this place, or one alone that would share it."""
        if self._runs_already(query, place):
            return False
        flows = self._execution.flows
        if place.key in self.alone or place.flow not in flows:
            return place.key in self.alone
        return place.shape is None or place.shape in flows[place.flow].groupings

    def _runs_already(self, query: Query, place: Place) -> bool:
        """Whether a tree groups the same rows, so that the query can read the same groups."""
        grouping = lowest_grouping(query.plan)
        return place.shape is not None and grouping is not None and self._execution.groups(grouping)

    def _never_alone_as_tree(self, query: Query, place: Place) -> bool:
        """Whether a query of this place is a tree only if saved when such queries did not share."""
        return self._begins_in_eddy(query, place) or self._sharing.executor == "eddy"

    def _begins_in_eddy(self, query: Query, place: Place) -> bool:
        """Whether a query that is alone has a flow find out in which order to join."""
        return place.shape is None and order_is_a_guess(query, place, self._strategy.statistics)

    def _share(self, query: Query, place: Place, number: int | None = None) -> None:
        """Give a query a seat in a flow; ``number``: that it had when it was saved."""
        if number is None:  # otherwise it is known who has a seat
            self.alone.meet(place.key)
        query.why = "it shares the flow of its signature"
        self._execution.add_to_flow(query, place, number)

    def _start_alone(self, query: Query, places: Sequence[Place], way: Way | None) -> None:
        """Run a query that has no other one to share with: ``executor = 'auto'``.

        Args:
            way: how it ran when it was saved.
        """
        first = places[0]
        if (first.shape is None and way == "eddy") or self._begins_in_eddy(query, first):
            query.why = _why_in_eddy(first.signature)
            self._execution.add_to_flow(query, first)
            places = [first]
        else:
            query.why = "no other query has its sources and join keys"
            if first.shape is not None:
                query.why += ", and groups as it does"
            if self._runs_already(query, places[-1]):
                query.why = "it reads the groups of a query that groups the same rows"
            self._orders.plant(query, way)
        self.alone.add(query, places)

    def _look_for_the_last(self, shared: SharedFlow) -> None:
        """Note who is alone in a flow now."""
        if self._sharing.executor != "auto" or shared.flow.members != 1 or len(shared.tables) != 1:
            return
        (table,) = shared.tables.values()
        if table.owner is not None:
            return
        (name,) = table.numbers
        last = self._queries[name]
        last.why = _why_in_eddy(shared.signature)
        if not shared.groupings:
            places, _ = places_of(last, self._strategy, self._sharing)
            self.alone.add_last(last, places[0])


def _why_in_eddy(signature: Signature) -> str:
    """Why a query that is alone runs in a flow."""
    if len(signature.sources) > 2:
        return "the fan-outs of its joins are not known to be steady"
    return "the queries that shared its flow are gone"
