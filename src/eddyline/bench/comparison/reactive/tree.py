"""Trees of joins with reactive feedback; pass ``REACTIVE`` as ``StrategyOptions.feedback_form``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eddyline.algebra.expressions import Expr, conjunction
from eddyline.algebra.plan import Admitted, LookupSemiJoin
from eddyline.algebra.plan import Join as JoinPlan
from eddyline.bench.comparison.reactive.components import components
from eddyline.bench.comparison.reactive.detector import Component, Detector
from eddyline.bench.comparison.reactive.gate import ReactiveGate
from eddyline.bench.comparison.reactive.join import ReactiveFeedback, ReactiveInput
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.physical.feedback.requirements import Key, Path, Requirement, passed_on
from eddyline.physical.feedback.tree import FeedbackTree, Probed
from eddyline.physical.strategy import Strategy, TreeInputs
from eddyline.runtime.feedback.join_feedback import JoinFeedback
from eddyline.runtime.graph import Graph
from eddyline.runtime.join_inputs.buffer import InputBuffer
from eddyline.runtime.join_inputs.gated_input import GatedInput
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.join import Join


class ReactiveTree(FeedbackTree):
    """A tree whose joins suspend rows after their first results."""

    shares_joins = False
    suspends_pairs = False

    def _judges(self, join: Join) -> tuple[Operator, Operator]:
        return join, join

    def _input(self, path: Path, *, gated: bool) -> GatedInput:
        buffer, keys = self._buffer(path), self._tree.joins[path[:-1]].keys
        gate = None
        if gated:
            name = self._name(path), self._name((*path[:-1], 1 - path[-1]))
            gate = ReactiveGate(name, buffer, trying=self._strategy.feedback == "auto")
        columns = [compile_expr(pair[path[-1]]) for pair in keys]
        return ReactiveInput(buffer, columns, gate, scanned=self._strategy.nested_loops)

    def _admitted(self, path: Path) -> InputBuffer:
        return self._buffer(path)

    def _feedback(
        self, path: Path, left: GatedInput, right: GatedInput, further: Probed
    ) -> JoinFeedback:
        assert isinstance(left, ReactiveInput) and isinstance(right, ReactiveInput), "its inputs"
        return ReactiveFeedback(left, right, self._detectors(path, further))

    def _detectors(self, path: Path, probed: Probed) -> list[Detector]:
        """The detectors of the consumers that join the results of a join by conditions."""
        found, join = [], self._tree.joins[path]
        for requirement in self._tree.wanted[path]:
            parts = components(requirement, join)
            if parts is None:
                continue
            (opposite,) = requirement.inputs
            probed[self._buffer(opposite)] = None
            probes = [
                self._tree.requirements[(*path, side)].index(own)
                if (own := passed_on(requirement, join, side))
                in self._tree.requirements[(*path, side)]
                else None
                for side in (0, 1)
            ]
            left, right = (tuple(_component(d) for d in part) for part in parts)
            found.append(
                Detector(
                    (left, right),
                    (self._buffer((*path, 0)), self._buffer((*path, 1))),
                    self._planner.index(opposite, ()),
                    self._buffer(opposite),
                    (probes[0], probes[1]),
                )
            )
        return found


def _component(requirement: Requirement) -> Component:
    met = conjunction(tuple(c.expr for c in requirement.conditions))
    own, others = ([compile_expr(e) for e in side] for side in _sides_of(requirement.keys))
    return Component((own, others), None if met is None else compile_predicate(met))


def _sides_of(keys: Sequence[Key]) -> tuple[list[Expr], list[Expr]]:
    return [k.own for k in keys], [k.other for k in keys]


@dataclass(frozen=True)
class Reactive:
    """The form of feedback for ``StrategyOptions.feedback_form``."""

    name: str = "reactive"

    def tree(
        self,
        top: JoinPlan | LookupSemiJoin | Admitted,
        graph: Graph,
        strategy: Strategy,
        inputs: TreeInputs,
    ) -> ReactiveTree:
        """See ``FeedbackForm``."""
        return ReactiveTree(top, graph, strategy, inputs)


REACTIVE: Final = Reactive()
