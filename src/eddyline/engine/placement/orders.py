"""Trees of joins that may get another order while they run."""

from __future__ import annotations

from eddyline.engine.execution.execution import Execution
from eddyline.engine.placement.replanning import Ordered, Replanner
from eddyline.engine.placement.ways import InOrder, Way
from eddyline.engine.query import Query
from eddyline.optimizer.joins.trees import Tree
from eddyline.optimizer.statistics import Statistics
from eddyline.sharing.reordering import joins_in, joins_of


class Orders:
    """The orders in which trees join.

    Args:
        execution: where they run. replanner: looks for better orders.

    Attributes:
        running: by name, the queries whose joins may be reordered.
        reordered: how often one has got another order.
    """

    def __init__(self, execution: Execution, replanner: Replanner) -> None:
        self.running: dict[str, Ordered] = {}
        self.reordered = 0
        self._execution = execution
        self._replanner = replanner

    def plant(self, query: Query, way: Way | None) -> None:
        """Let a query that comes run as the tree of its plan.

        Args:
            way: how it ran when it was saved, perhaps in another order.
        """
        joins = joins_of(query.plan)
        if joins is None or query.emit.mode == "snapshot":
            self._execution.add_tree(query)
            return
        way = way if isinstance(way, InOrder) else InOrder(joins.tree)
        query.plan = joins.plan(way.tree)
        self._execution.add_tree(query)  # or it is refused
        self.running[query.name] = Ordered.saved(query, joins, way)

    def forget(self, query: Query) -> None:
        """It is gone, or no such tree any more."""
        self.running.pop(query.name, None)

    def adapt(self) -> None:
        """Let a few trees join in a better order, if there is one."""
        for ordered in self._replanner.due(self.running):
            ordered.look(self._joined(ordered))
            better = self._replanner.better(ordered, self._elapsed_us(ordered))
            if better is not None:
                share = f"{better.share:.0%} of what its joins cost in the order before"
                self.change(ordered, better.tree, f"expected to take {share}")

    def cheapest(self, ordered: Ordered, statistics: Statistics) -> Tree:
        """The order that costs least by these statistics."""
        return self._replanner.cheapest(ordered, statistics, self._elapsed_us(ordered))

    def _elapsed_us(self, ordered: Ordered) -> int:
        return self._execution.elapsed_us(ordered.query)

    def change(self, ordered: Ordered, tree: Tree, why: str) -> None:
        """Let a query join in another order from now on."""
        query = ordered.query
        ordered.tree, query.plan = tree, ordered.joins.plan(tree)
        ordered.counts.clear()
        query.reordered += 1
        self.reordered += 1
        self._execution.to_tree(query, query.plan)
        query.why = f"joins {ordered.order}, {why}"

    def ways(self) -> dict[str, Way]:
        """By name, how these queries run."""
        return {n: o.way(self._joined(o)) for n, o in self.running.items()}

    def _joined(self, ordered: Ordered) -> dict[Tree, tuple[int, int]]:
        """Rows that the joins of a tree have joined so far, and results."""
        joins = joins_in(ordered.query.plan, ordered.tree)
        counts = {tree: self._execution.joined(join) for tree, join in joins.items()}
        return {tree: count for tree, count in counts.items() if count is not None}
