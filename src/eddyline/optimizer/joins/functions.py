"""A plan as functions of the keep rates at its sources."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from eddyline.optimizer.joins.costing import Costing
from eddyline.optimizer.joins.flows import Flow, joined, source_functions
from eddyline.optimizer.joins.posynomial import Posynomial
from eddyline.optimizer.joins.query import JoinQuery
from eddyline.optimizer.joins.trees import Tree, mask, subtrees


@dataclass(frozen=True)
class Operator:
    """A source or a join of a plan.

    Attributes:
        tree: the sub-plan that it is the top of.
        flow: what it emits, and what of that is alive.
        cost: seconds per second of it alone.
    """

    tree: Tree
    flow: Flow[Posynomial]
    cost: Posynomial


@dataclass(frozen=True)
class PlanFunctions:
    """Rates, windows and costs of a plan, as functions of its sources' keep rates.

    >>> from eddyline.optimizer.joins.costing import Priced
    >>> from eddyline.optimizer.joins.query import Source, Term
    >>> rates = {"A": 10, "B": 70, "C": 20}
    >>> sources = tuple(Source.last(name, rate, rows=10) for name, rate in rates.items())
    >>> query = JoinQuery(sources, (Term.edge(0, 1, 0.5), Term.edge(1, 2, 0.2)))
    >>> plan = PlanFunctions(query, ((1, 2), 0), Priced())
    >>> round(plan.output.at([1, 1, 1]), 6)
    1000.0
    """

    query: JoinQuery
    tree: Tree
    costing: Costing

    @cached_property
    def operators(self) -> tuple[Operator, ...]:
        """Sources and joins, inputs first."""
        flows = dict(enumerate(source_functions(self.query)))
        by_tree: dict[Tree, Operator] = {}
        for tree in subtrees(self.tree):
            if isinstance(tree, int):
                by_tree[tree] = self._source(tree, flows[tree])
            else:
                by_tree[tree] = self._join(by_tree[tree[0]], by_tree[tree[1]])
        return tuple(by_tree.values())

    @property
    def output(self) -> Posynomial:
        """Results per second."""
        return self.operators[-1].flow.rate

    @cached_property
    def cost(self) -> Posynomial:
        """Seconds per second: the cores that the plan needs."""
        return sum((o.cost for o in self.operators), Posynomial({}))

    def _source(self, number: int, flow: Flow[Posynomial]) -> Operator:
        source = self.query.sources[number]
        box = 0 if source.is_table else 1 << number
        intake = Posynomial({box: self.costing.intake_s(source)})
        return Operator(number, flow, intake)

    def _join(self, left: Operator, right: Operator) -> Operator:
        tie = self.query.tie(mask(left.tree), mask(right.tree))
        return Operator(
            (left.tree, right.tree),
            joined(left.flow, right.flow, tie.share),
            self.costing.join(left.flow, right.flow, tie),
        )
