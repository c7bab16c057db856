"""Trees of joins with reactive feedback; pass ``REACTIVE`` as ``StrategyOptions.feedback_form``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from eddyline.algebra.expressions import Expr, conjunction
from eddyline.algebra.plan import Join, LookupSemiJoin, Plan
from eddyline.bench.comparison.reactive.components import components
from eddyline.bench.comparison.reactive.detector import Component, Detector
from eddyline.bench.comparison.reactive.gate import ReactiveGate
from eddyline.bench.comparison.reactive.join import ReactiveFeedback, ReactiveInput
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.physical.feedback.requirements import Demand, Key, Path, passed_on
from eddyline.physical.feedback.tree import FeedbackTree
from eddyline.physical.strategy import Strategy
from eddyline.runtime.feedback.join_feedback import JoinFeedback
from eddyline.runtime.graph import Graph
from eddyline.runtime.join_inputs.gated_input import GatedInput
from eddyline.runtime.operators.base import Operator


class ReactiveTree(FeedbackTree):
    """A tree whose joins suspend rows after their first results."""

    gate_type = ReactiveGate
    input_type = ReactiveInput
    shares_joins = False
    suspends_pairs = False

    def _feedback(
        self, path: Path, left: GatedInput, right: GatedInput, asked: dict[Operator, None]
    ) -> JoinFeedback:
        assert isinstance(left, ReactiveInput) and isinstance(right, ReactiveInput), "input_type"
        return ReactiveFeedback(left, right, self._detectors(path, asked))

    def _detectors(self, path: Path, asked: dict[Operator, None]) -> list[Detector]:
        """The detectors of the consumers that join the results of a join by conditions."""
        found, join = [], self._tree.joins[path]
        for demand in self._tree.wanted[path]:
            parts = components(demand, join)
            if parts is None:
                continue
            (opposite,) = demand.asked
            asked[self._kept(opposite)] = None
            questions = [
                self._tree.demands[(*path, side)].index(own)
                if (own := passed_on(demand, join, side)) in self._tree.demands[(*path, side)]
                else None
                for side in (0, 1)
            ]
            left, right = (tuple(_component(d) for d in part) for part in parts)
            found.append(
                Detector(
                    (left, right),
                    (self._kept((*path, 0)), self._kept((*path, 1))),
                    self._asking.partners(opposite, ()),
                    self._kept(opposite),
                    (questions[0], questions[1]),
                )
            )
        return found


def _component(demand: Demand) -> Component:
    met = conjunction(tuple(c.expr for c in demand.conditions))
    own, others = ([compile_expr(e) for e in side] for side in _sides_of(demand.keys))
    return Component((own, others), None if met is None else compile_predicate(met))


def _sides_of(keys: Sequence[Key]) -> tuple[list[Expr], list[Expr]]:
    return [k.own for k in keys], [k.other for k in keys]


@dataclass(frozen=True)
class Reactive:
    """The form of feedback for ``StrategyOptions.feedback_form``."""

    name: str = "reactive"

    def tree(
        self,
        top: Join | LookupSemiJoin,
        graph: Graph,
        strategy: Strategy,
        leaf: Callable[[Plan], Operator],
    ) -> ReactiveTree:
        """See ``FeedbackForm``."""
        return ReactiveTree(top, graph, strategy, leaf)


REACTIVE: Final = Reactive()
