"""How a plan's rows leave its state: the execution strategies of the update-patterns paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from eddyline.algebra.plan import (
    Admitted,
    AntiJoin,
    Distinct,
    GroupBy,
    Join,
    Lookup,
    LookupSemiJoin,
    Negation,
    Plan,
    SemiJoin,
)
from eddyline.optimizer.estimates import premature_share
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.runtime.graph import Graph
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.stores.intermediates import ResultRows

StateStrategy = Literal["upa", "direct", "negative-tuple"]
Feedback = Literal["off", "doe", "jit", "auto"]
Mns = Literal["index", "bloom"]


class JoinTreeBuilder(Protocol):
    """Builds the operators of a tree of joins with feedback."""

    def join(self) -> Operator:
        """The join on top."""

    def looking_up(self, make: Callable[[Operator], Operator]) -> Operator:
        """The operator that looks up the results of the tree, made of their operator."""

    def admitted(self, scans: Sequence[Operator]) -> Operator:
        """The rows of the input of an ``Admitted``; ``scans``: of all streams beside."""


@dataclass(frozen=True)
class TreeInputs:
    """Builds the operators between and below the joins of a tree with feedback.

    Attributes:
        leaf: of an input that is no join of the tree, its rows in a store. distinct: of a DISTINCT
            over an operator. spooled: puts the rows of a plan's operator into a store. results:
            makes the store of the results of a join.
    """

    leaf: Callable[[Plan], Operator]
    distinct: Callable[[Distinct, Operator], Operator]
    spooled: Callable[[Plan, Operator], Operator]
    results: Callable[[Plan], ResultRows]


class FeedbackForm(Protocol):
    """A form of feedback between joins that replaces the product's own, for comparison."""

    @property
    def name(self) -> str:
        """Its name in checkpoints."""

    def tree(
        self,
        top: Join | LookupSemiJoin | Admitted,
        graph: Graph,
        strategy: Strategy,
        inputs: TreeInputs,
    ) -> JoinTreeBuilder:
        """As of ``eddyline.physical.feedback.tree.FeedbackTree``."""


@dataclass(frozen=True)
class Strategy:
    """How operators keep their rows, and which feedback consumers of rows send to producers.

    Source: Golab and Ozsu 2005, sections 2.3 and 5.3.2.

    Attributes:
        statistics: by which the share of premature results is expected.
        lazy_us: how often state that is looked up by key drops expired rows; None: when up to half
            of it may have expired.

    The others are fields of :class:`eddyline.engine.options.StrategyOptions`, and documented there.
    """

    state: StateStrategy = "upa"
    partitions: int = 64
    views: bool = False
    negative_tuples_from: float | None = None
    statistics: Statistics = UNKNOWN
    feedback: Feedback = "off"
    feedback_form: FeedbackForm | None = None
    nested_loops: bool = False
    mns: Mns = "index"
    combinations: bool = False
    lazy_us: int | None = None

    @property
    def shares(self) -> bool:
        """Whether queries may share a flow: its rows leave by ``exp``."""
        return self.state == "upa"

    def explicit_above_negation(self, plan: Plan) -> bool:
        """Whether the operators above a negation do better with a '-' for every row that leaves.

        Source: Golab and Ozsu 2005, section 5.4.3.
        """
        least = self.negative_tuples_from
        if self.state != "upa" or least is None or isinstance(plan, GroupBy):
            return False
        if decides_by_matches(plan):
            return premature_share(plan, self.statistics) >= least
        return any(self.explicit_above_negation(p) for p in plan.inputs)


def decides_by_matches(plan: Plan) -> bool:
    """Whether this is a negation, or an existence test that changes of its right input affect."""
    return isinstance(plan, (Negation, SemiJoin, AntiJoin)) and not isinstance(plan, Lookup)
