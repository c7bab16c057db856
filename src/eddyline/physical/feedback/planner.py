"""Who is asked for the rows of a tree of joins, and how: demands as operators take them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from eddyline.algebra.expressions import Expr, conjunction, shift_columns, without_names
from eddyline.algebra.plan import Join, LookupSemiJoin
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.physical.feedback.requirements import Demand, JoinTree, Path, passed_on
from eddyline.physical.strategy import Strategy
from eddyline.runtime.feedback.combinations import Combinations
from eddyline.runtime.feedback.conditional import ConditionalPartner
from eddyline.runtime.feedback.join_feedback import JoinFeedback
from eddyline.runtime.feedback.match_probe import Pairs, Partner, PartnerPair, Wanted
from eddyline.runtime.feedback.partners import Partners
from eddyline.runtime.graph import Graph
from eddyline.runtime.join_inputs.buffer import Kept
from eddyline.runtime.operators.base import Operator


class Asking:
    """Builds what the joins of one tree ask.

    Args:
        tree, top: whose joins they are.
        kept: the rows of an input. name: what is joined there, for people.
    """

    def __init__(
        self,
        tree: JoinTree,
        top: Join | LookupSemiJoin,
        graph: Graph,
        strategy: Strategy,
        kept: Callable[[Path], Kept],
        name: Callable[[Path], str],
    ) -> None:
        self._tree = tree
        self._top = top
        self._graph = graph
        self._strategy = strategy
        self._kept = kept
        self._name = name

    def wanted(self, demand: Demand, asked: dict[Operator, None]) -> Wanted:
        """What a gate asks; ``asked`` gets who must have run before it does."""
        for path in demand.asked:
            asked[self._kept(path)] = None
        met = conjunction(tuple(c.expr for c in demand.conditions))
        if len(demand.asked) == 2:
            return self._pair_wanted(demand, asked)
        (path,), own = demand.asked, [compile_expr(k.own) for k in demand.keys]
        others = tuple(k.other for k in demand.keys)
        if met is not None:
            partners, kept = self.partners(path, others), self._kept(path)
            return ConditionalPartner(own, partners, kept, compile_predicate(met))
        if others and not demand.at_once and self._strategy.mns == "bloom":
            name = tuple(map(without_names, others))
            known = self._kept(path).filter(name, [compile_expr(e) for e in others])
            return Partner(own, known)
        return Partner(own, self.partners(path, others), at_once=demand.at_once)

    def _pair_wanted(self, demand: Demand, asked: dict[Operator, None]) -> PartnerPair:
        own, partners = [], []
        for place, path in enumerate(demand.asked):
            keys = [k for k in demand.keys if k.place == place]
            own.append([compile_expr(k.own) for k in keys])
            partners.append(self.partners(path, tuple(k.other for k in keys)))
        pairs = self._pairs(demand.asked[0], demand.asked[1])
        asked[pairs] = None
        width = len(self._tree.inputs[demand.asked[0]].schema)
        others = [shift_columns(k.other, k.place * width) for k in demand.keys]
        return PartnerPair(
            pairs, (own[0], own[1]), (partners[0], partners[1]), [compile_expr(o) for o in others]
        )

    def partners(self, path: Path, keys: tuple[Expr, ...]) -> Partners:
        """The rows of an input by key."""
        name = tuple(map(without_names, keys))
        return self._kept(path).partners(name, [compile_expr(e) for e in keys])

    def _pairs(self, left: Path, right: Path) -> Pairs:
        """The pairs of rows of the two inputs of a join."""
        keys = self._tree.joins[left[:-1]].keys
        links = [
            self.partners(path, tuple(k[side] for k in keys))
            for side, path in enumerate((left, right))
        ]
        make = partial(Pairs, (self._kept(left), self._kept(right)), (links[0], links[1]))
        operator = self._graph.obtain(("pairs", self._top, left), make)
        assert isinstance(operator, Pairs), "what has been obtained"
        return operator

    def combinations(
        self, feedback: JoinFeedback, path: Path, asked: dict[Operator, None]
    ) -> Combinations | None:
        """Which results of a join the next one wants, if it joins them by keys of both inputs."""
        demand = self._tree.nearest.get(path)
        if demand is None or not self._strategy.combinations:
            return None
        keys = [passed_on(demand, self._tree.joins[path], side).keys for side in (0, 1)]
        if not all(keys):
            return None
        (opposite,) = demand.asked
        asked[self._kept(opposite)] = None
        left, right = (
            self.partners((*path, side), tuple(k.own for k in ks)) for side, ks in enumerate(keys)
        )
        l_others, r_others = ([compile_expr(k.other) for k in ks] for ks in keys)
        return Combinations(
            (self._name(path), self._name(opposite)),
            (left, right),
            self._kept(opposite),
            (l_others, r_others),
            feedback.inputs,
            trying=self._strategy.feedback == "auto",
        )
