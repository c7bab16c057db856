"""A tree of joins in which the producers know what their consumers have a use for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from eddyline.algebra.expressions import Expr, conjunction, shift_columns
from eddyline.algebra.plan import (
    Filter,
    Join,
    Plan,
    Project,
    SemiJoin,
    StreamScan,
    TableScan,
    looks_up,
    takes_back,
)
from eddyline.physical.compiled import output, residual, scan_below
from eddyline.physical.components import components
from eddyline.physical.demands import Demand, Key, Path, inner_join, join_tree, passed_on
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.physical.graph import Graph
from eddyline.physical.patterns import (
    asks_as_it_is,
    base_scan,
    id_width_of,
    is_stored,
)
from eddyline.physical.strategy import Strategy
from eddyline.runtime.feedback.conditional import ConditionalPartner
from eddyline.runtime.feedback.findable import Findable, FindableToAll
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.feedback.join import FeedbackJoin, Input
from eddyline.runtime.feedback.kept import Kept, Partners
from eddyline.runtime.feedback.mns import Component, Detector
from eddyline.runtime.feedback.reactive import ReactiveInput, ReactiveJoin
from eddyline.runtime.feedback.rows import CompositeRows, Rows, StemRows
from eddyline.runtime.feedback.wanted import Pairs, Partner, PartnerPair, Wanted
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.filter import Filter as FilterOperator
from eddyline.runtime.operators.project import Project as ProjectOperator


def takes_feedback(plan: Join, strategy: Strategy) -> bool:
    """Whether a join is to be run as a tree with feedback: if another join is one of its inputs,
    and nobody takes rows back.
    """
    if strategy.feedback == "off" or strategy.state != "upa" or takes_back(plan):
        return False
    return any(inner_join(p) is not None for p in plan.inputs)


def feeds_back(plan: Plan, strategy: Strategy) -> bool:
    """Whether the look-ups of a plan's rows in a static table tell the joins below what they want.

    ``auto`` leaves a single join as it is: other queries may read it.
    """
    if not (isinstance(plan, (Join, SemiJoin)) and asks_as_it_is(plan)):
        return False
    join = inner_join(plan.left)
    if join is None or strategy.feedback == "doe":
        return False
    is_plain = strategy.state == "upa" and not takes_back(join)
    return takes_feedback(join, strategy) or (strategy.feedback == "jit" and is_plain)


class FeedbackTree:
    """Builds the operators of a tree of joins.

    They are nobody else's: what another query wants of one of the joins, no gate would know.

    Args:
        top: the join on top, or what looks its rows up.
        leaf: makes the operator of an input that is no join of the tree, its rows in a store.
    """

    def __init__(
        self,
        top: Join | SemiJoin,
        graph: Graph,
        strategy: Strategy,
        leaf: Callable[[Plan], Operator],
    ) -> None:
        self._top = top
        self._graph = graph
        self._strategy = strategy
        self._leaf = leaf
        if looks_up(top):
            join = inner_join(top.left)
            assert join is not None, "feeds_back says so"
            self._tree = join_tree(join, strategy, top)
        else:
            assert isinstance(top, Join), "a join of the tree"
            self._tree = join_tree(top, strategy)

    def looking_up(self) -> Operator:
        """What looks its rows up in the table."""
        return self._above((), self._top.left)

    def join(self, path: Path = ()) -> Operator:
        """The join at a path; that on top is the empty one's."""
        join = self._tree.joins[path]
        asked: dict[Operator, None] = {}
        left, right = (self._input((*path, side), asked) for side in (0, 1))
        if isinstance(left, ReactiveInput) and isinstance(right, ReactiveInput):
            detectors = self._detectors(path, asked)
            return ReactiveJoin(left, right, list(asked), residual(join), detectors)
        return FeedbackJoin(left, right, list(asked), residual(join))

    def _detectors(self, path: Path, asked: dict[Operator, None]) -> list[Detector]:
        """Who judges the results of a join, at the consumers that compare them with other rows."""
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
                    self._partners(opposite, ()),
                    self._kept(opposite),
                    (questions[0], questions[1]),
                )
            )
        return found

    def _input(self, path: Path, asked: dict[Operator, None]) -> Input:
        """An input of a join; ``asked`` gets who must have run before."""
        kept, join = self._kept(path), self._tree.joins[path[:-1]]
        wanted = [self._wanted(d, asked) for d in self._tree.demands[path]]
        exprs = tuple(pair[path[-1]] for pair in join.keys)
        keys = [compile_expr(e) for e in exprs]
        own_index = self._strategy.nested_loops or not self._strategy.admission
        if wanted or own_index or path in self._tree.joins:
            rows = Findable(kept, keys, scanned=self._strategy.nested_loops)
        else:
            rows = FindableToAll(kept, keys, self._partners(path, exprs))
        make = Input if self._strategy.admission else ReactiveInput
        if not wanted:
            return make(rows, None)
        name = self._name(path), self._name((*path[:-1], 1 - path[-1]))
        trying = self._strategy.feedback == "auto"
        return make(rows, Gate(name, kept, wanted, trying=trying))

    def _name(self, path: Path) -> str:
        """What is joined there, for people."""
        if path in self._tree.joins:
            return f"({self._name((*path, 0))} ⋈ {self._name((*path, 1))})"
        scan = base_scan(self._tree.inputs[path])
        match scan:
            case StreamScan():
                return scan.stream
            case TableScan():
                return scan.table
        return type(self._tree.inputs[path]).__name__

    def _wanted(self, demand: Demand, asked: dict[Operator, None]) -> Wanted:
        own, partners = [], []
        for place, path in enumerate(demand.asked):
            keys = [k for k in demand.keys if k.place == place]
            own.append([compile_expr(k.own) for k in keys])
            partners.append(self._partners(path, tuple(k.other for k in keys)))
            asked[self._kept(path)] = None
        met = conjunction(tuple(c.expr for c in demand.conditions))
        if met is not None:
            kept = self._kept(demand.asked[0])
            return ConditionalPartner(own[0], partners[0], kept, compile_predicate(met))
        if len(demand.asked) == 1:
            return Partner(own[0], partners[0], at_once=demand.at_once)
        pairs = self._pairs(demand.asked[0], demand.asked[1])
        asked[pairs] = None
        width = len(self._tree.inputs[demand.asked[0]].schema)
        others = [shift_columns(k.other, k.place * width) for k in demand.keys]
        return PartnerPair(
            pairs, (own[0], own[1]), (partners[0], partners[1]), [compile_expr(o) for o in others]
        )

    def _partners(self, path: Path, keys: tuple[Expr, ...]) -> Partners:
        return self._kept(path).partners(keys, [compile_expr(e) for e in keys])

    def _pairs(self, left: Path, right: Path) -> Pairs:
        """The pairs of rows of the two inputs of a join."""
        keys = self._tree.joins[left[:-1]].keys
        links = [
            self._partners(path, tuple(k[side] for k in keys))
            for side, path in enumerate((left, right))
        ]
        make = partial(Pairs, (self._kept(left), self._kept(right)), (links[0], links[1]))
        operator = self._graph.obtain(("pairs", self._top, left), make)
        assert isinstance(operator, Pairs), "what has been obtained"
        return operator

    def _kept(self, path: Path) -> Kept:
        operator = self._graph.obtain(("kept", self._top, path), partial(self._keep, path))
        assert isinstance(operator, Kept), "what has been obtained"
        return operator

    def _keep(self, path: Path) -> Operator:
        plan = self._tree.inputs[path]
        rows: Rows
        if inner_join(plan) is not None:
            return Kept(self._above(path, plan), CompositeRows(id_width_of(plan)))
        source = self._leaf(plan)
        if base_scan(plan) is None:
            rows = CompositeRows(id_width_of(plan) if is_stored(plan) else 1)
        else:
            scan = scan_below(source)
            rows = StemRows(scan.stem, scan.window)
        return Kept(source, rows)

    def _above(self, path: Path, plan: Plan) -> Operator:
        """The join at a path, and what filters or renames its rows."""
        make: Callable[[], Operator]
        if isinstance(plan, Join):
            make = partial(self.join, path)
        elif isinstance(plan, Filter):
            predicate = compile_predicate(plan.predicate)
            make = partial(FilterOperator, self._above(path, plan.input), predicate)
        else:
            assert isinstance(plan, Project), "filters and projections only"
            outputs = [output(e) for e in plan.exprs]
            make = partial(ProjectOperator, self._above(path, plan.input), outputs)
        return self._graph.obtain(("wanted", self._top, path, plan), make)


def _component(demand: Demand) -> Component:
    met = conjunction(tuple(c.expr for c in demand.conditions))
    own, others = ([compile_expr(e) for e in side] for side in _sides_of(demand.keys))
    return Component((own, others), None if met is None else compile_predicate(met))


def _sides_of(keys: Sequence[Key]) -> tuple[list[Expr], list[Expr]]:
    return [k.own for k in keys], [k.other for k in keys]
