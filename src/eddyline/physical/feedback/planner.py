"""Builds the match probes for the requirements of a tree of joins."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from eddyline.algebra.expressions import Expr, conjunction, shift_columns, without_names
from eddyline.algebra.plan import Admitted, Join, LookupSemiJoin
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.physical.feedback.requirements import JoinTree, Path, Requirement, passed_on
from eddyline.physical.strategy import Strategy
from eddyline.runtime.feedback.combinations import Combinations
from eddyline.runtime.feedback.condition_probe import ConditionProbe
from eddyline.runtime.feedback.join_feedback import JoinFeedback
from eddyline.runtime.feedback.key_index import KeyIndex
from eddyline.runtime.feedback.match_probe import KeyProbe, MatchProbe, NewPairs, PairProbe
from eddyline.runtime.graph import Graph
from eddyline.runtime.join_inputs.buffer import InputBuffer
from eddyline.runtime.join_inputs.gated_rows import GatedRows
from eddyline.runtime.operators.base import Operator


class FeedbackPlanner:
    """Builds the match probes of one tree.

    Args:
        tree: its joins. top: the join at its top.
        buffer: gives all rows of an input. admitted: gives those that its gate admits, or all if it
            has none. name: gives the name of an input, for statistics.
    """

    def __init__(
        self,
        tree: JoinTree,
        top: Join | LookupSemiJoin | Admitted,
        graph: Graph,
        strategy: Strategy,
        buffer: Callable[[Path], InputBuffer],
        admitted: Callable[[Path], InputBuffer | GatedRows],
        name: Callable[[Path], str],
    ) -> None:
        self._tree = tree
        self._top = top
        self._graph = graph
        self._strategy = strategy
        self._buffer = buffer
        self._admitted = admitted
        self._name = name

    def probe(self, requirement: Requirement, probed: dict[Operator, None]) -> MatchProbe:
        """The probe of a gate; adds the operators that must run before it to ``probed``."""
        if len(requirement.inputs) == 2:
            return self._pair_probe(requirement, probed)
        met = conjunction(tuple(c.expr for c in requirement.conditions))
        (path,), own = requirement.inputs, [compile_expr(k.own) for k in requirement.keys]
        others = tuple(k.other for k in requirement.keys)
        rows = self._buffer(path) if requirement.of_all else self._admitted(path)
        probed[rows] = None
        name, keys = tuple(map(without_names, others)), [compile_expr(e) for e in others]
        if met is not None:
            partners, buffer = rows.keys.index(name, keys), self._buffer(path)
            return ConditionProbe(own, partners, buffer, compile_predicate(met))
        if others and not requirement.at_once and self._strategy.mns == "bloom":
            return KeyProbe(own, rows.keys.filter(name, keys))
        return KeyProbe(own, rows.keys.index(name, keys), at_once=requirement.at_once)

    def _pair_probe(self, requirement: Requirement, probed: dict[Operator, None]) -> PairProbe:
        own, partners = [], []
        for path in requirement.inputs:
            probed[self._buffer(path)] = None
        for place, path in enumerate(requirement.inputs):
            keys = [k for k in requirement.keys if k.place == place]
            own.append([compile_expr(k.own) for k in keys])
            partners.append(self.index(path, tuple(k.other for k in keys)))
        pairs = self._pairs(requirement.inputs[0], requirement.inputs[1])
        probed[pairs] = None
        width = len(self._tree.inputs[requirement.inputs[0]].schema)
        others = [shift_columns(k.other, k.place * width) for k in requirement.keys]
        return PairProbe(
            pairs, (own[0], own[1]), (partners[0], partners[1]), [compile_expr(o) for o in others]
        )

    def index(self, path: Path, keys: tuple[Expr, ...]) -> KeyIndex:
        """All rows of an input by key."""
        name = tuple(map(without_names, keys))
        return self._buffer(path).keys.index(name, [compile_expr(e) for e in keys])

    def _pairs(self, left: Path, right: Path) -> NewPairs:
        """The pairs of rows of the two inputs of a join."""
        keys = self._tree.joins[left[:-1]].keys
        links = [
            self.index(path, tuple(k[side] for k in keys))
            for side, path in enumerate((left, right))
        ]
        make = partial(NewPairs, (self._buffer(left), self._buffer(right)), (links[0], links[1]))
        operator = self._graph.obtain(("pairs", self._top, left), make)
        assert isinstance(operator, NewPairs), "what has been obtained"
        return operator

    def combinations(
        self, feedback: JoinFeedback, path: Path, probed: dict[Operator, None]
    ) -> Combinations | None:
        """The results of a join that the next one requires, if it joins by keys of both inputs."""
        requirement = self._tree.nearest.get(path)
        if requirement is None or not self._strategy.combinations:
            return None
        keys = [passed_on(requirement, self._tree.joins[path], side).keys for side in (0, 1)]
        if not all(keys):
            return None
        (opposite,) = requirement.inputs
        probed[self._buffer(opposite)] = None
        left, right = (
            self.index((*path, side), tuple(k.own for k in ks)) for side, ks in enumerate(keys)
        )
        l_others, r_others = ([compile_expr(k.other) for k in ks] for ks in keys)
        return Combinations(
            (self._name(path), self._name(opposite)),
            (left, right),
            self._buffer(opposite),
            (l_others, r_others),
            feedback.inputs,
            trying=self._strategy.feedback == "auto",
        )
