"""A tree of joins in which the producers know what their consumers have a use for."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from itertools import chain

from eddyline.algebra.plan import (
    Filter,
    Join,
    Lookup,
    LookupJoin,
    LookupSemiJoin,
    Plan,
    Project,
    StreamScan,
    TableScan,
)
from eddyline.errors import EddylineError
from eddyline.physical.compiled import output, residual, scan_below
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.physical.feedback.planner import Asking
from eddyline.physical.feedback.requirements import Path, inner_join, join_tree
from eddyline.physical.patterns import (
    base_scan,
    id_width_of,
    is_stored,
)
from eddyline.physical.strategy import Strategy
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.feedback.join_feedback import JoinFeedback
from eddyline.runtime.graph import Graph
from eddyline.runtime.join_inputs.buffer import Kept
from eddyline.runtime.join_inputs.gated_input import GatedInput
from eddyline.runtime.join_inputs.join_input import InputRows, StemRows
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.filter import Filter as FilterOperator
from eddyline.runtime.operators.join import Join as JoinOperator
from eddyline.runtime.operators.project import Project as ProjectOperator
from eddyline.runtime.stores.intermediates import ResultRows


def takes_feedback(plan: Join, strategy: Strategy) -> bool:
    """Whether a join is to be run as a tree with feedback: if another join is one of its inputs,
    and nobody takes rows back.
    """
    if strategy.feedback == "off" or plan.takes_back:
        return False
    return any(inner_join(p) is not None for p in plan.inputs)


def feeds_back(plan: Plan, strategy: Strategy) -> bool:
    """Whether the look-ups of a plan's rows in a table tell the joins below what they want: each
    looks the table up as it is when it comes, and one that may come later does not bring it back.

    ``auto`` leaves a single join as it is: other queries may read it.
    """
    if not isinstance(plan, (LookupJoin, LookupSemiJoin)):
        return False
    join = inner_join(plan.left)
    if join is None or strategy.feedback == "doe":
        return False
    is_single = strategy.feedback == "jit" and not join.takes_back
    return takes_feedback(join, strategy) or is_single


class FeedbackTree:
    """Builds the operators of a tree of joins.

    Joins below the one on top are shared with other trees: their gates know what each of these
    wants. Not so where a tree has the same join twice.

    Args:
        top: the join on top, or what looks its rows up.
        leaf: makes the operator of an input that is no join of the tree, its rows in a store.

    Attributes:
        gate_type, input_type: of the joins. shares_joins: joins and indexes are shared with other
            trees. suspends_pairs: whether ``Strategy.combinations`` applies.
    """

    gate_type: type[Gate] = Gate
    input_type: type[GatedInput] = GatedInput
    shares_joins = True
    suspends_pairs = True

    def __init__(
        self,
        top: Join | LookupSemiJoin,
        graph: Graph,
        strategy: Strategy,
        leaf: Callable[[Plan], Operator],
    ) -> None:
        self._top = top
        self._graph = graph
        self._strategy = strategy
        self._leaf = leaf
        if isinstance(top, Lookup):
            join = inner_join(top.left)
            assert join is not None, "feeds_back says so"
            self._tree = join_tree(join, strategy, top)
        else:
            self._tree = join_tree(top, strategy)
        self._asking = Asking(self._tree, top, graph, strategy, self._kept, self._name)
        joins = list(self._tree.joins.values())
        self._is_shared = self.shares_joins and len(set(joins)) == len(joins)
        self._kept_at: dict[Path, Kept] = {}
        self._reads: list[tuple[JoinOperator, Path, list[Operator]]] = []

    def looking_up(self, make: Callable[[Operator], Operator]) -> Operator:
        """What looks up the rows of the tree, made of their operator."""
        return self._while_read(lambda: make(self._above((), self._top.left)))

    def join(self) -> Operator:
        """The join on top."""
        return self._while_read(partial(self._join, (), {}))

    def _while_read(self, make: Callable[[], Operator]) -> Operator:
        """The operator above all joins with gates; once it goes, the tree wants nothing more."""
        try:
            operator = make()
        except EddylineError:
            self._stop_reading()
            raise
        self._graph.before_closing(operator, self._stop_reading)
        return operator

    def _stop_reading(self) -> None:
        for join, path, asked in self._reads:
            for gate in _feedback_of(join).gates:
                gate.remove((self, path))
            self._graph.remove_inputs(join, asked)
        self._reads.clear()

    def _read_join(self, path: Path) -> Operator:
        """A join whose rows the tree reads; its gates know what the tree wants of them."""
        asked: dict[Operator, None] = {}
        wanted = [
            [self._asking.wanted(d, asked) for d in self._tree.demands[(*path, s)]] for s in (0, 1)
        ]
        for side in (0, 1):
            self._kept((*path, side))  # the joins below may be there already, without this reader
        key = self._key("join", path, self._tree.joins[path])
        is_new = key not in self._graph
        join = self._graph.obtain(key, partial(self._join, path, asked))
        assert isinstance(join, JoinOperator), "the key of a join"
        feedback = _feedback_of(join)
        if not is_new and any(self._graph.is_below(join, operator) for operator in asked):
            # Other trees want it to run first: then this one has to want all of its rows.
            for question in chain(*wanted):
                question.close()
            wanted, asked = [[], []], {}
        if is_new and self.suspends_pairs:
            feedback.combinations = self._asking.combinations(feedback, path, asked)
        elif feedback.combinations is not None:
            feedback.combinations.ending = True
        for gate, questions in zip(feedback.gates, wanted, strict=True):
            gate.add((self, path), questions, anew=not is_new)
        self._graph.add_inputs(join, list(asked))
        self._reads.append((join, path, list(asked)))
        if not is_new:
            self._graph.has_more(join)
        return join

    def _join(self, path: Path, asked: dict[Operator, None]) -> JoinOperator:
        """A join; ``asked`` gets who must have run before, besides its inputs."""
        join = self._tree.joins[path]
        is_read = bool(path) or isinstance(self._top, Lookup)
        left, right = (self._input((*path, side), gated=is_read) for side in (0, 1))
        feedback = self._feedback(path, left, right, asked)
        return JoinOperator(left.buffer, right.buffer, (left, right), residual(join), feedback)

    def _input(self, path: Path, *, gated: bool) -> GatedInput:
        """An input of a join."""
        kept, join = self._kept(path), self._tree.joins[path[:-1]]
        exprs = tuple(pair[path[-1]] for pair in join.keys)
        keys = [compile_expr(e) for e in exprs]
        own_index = self._strategy.nested_loops or not self.shares_joins
        shared = gate = None
        if not (gated or own_index or path in self._tree.joins):
            shared = self._asking.partners(path, exprs)
        if gated:
            name = self._name(path), self._name((*path[:-1], 1 - path[-1]))
            gate = self.gate_type(name, kept, trying=self._strategy.feedback == "auto")
        scanned = self._strategy.nested_loops
        return self.input_type(kept, keys, gate, shared=shared, scanned=scanned)

    def _feedback(
        self, path: Path, left: GatedInput, right: GatedInput, asked: dict[Operator, None]
    ) -> JoinFeedback:
        """The feedback of a join; ``asked`` as in ``_join``."""
        return JoinFeedback(left, right)

    def _key(self, what: str, path: Path, plan: Plan) -> Hashable:
        """What an operator of the tree is known by."""
        return (what, plan) if self._is_shared else (what, plan, self._top, path)

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

    def _kept(self, path: Path) -> Kept:
        if path not in self._kept_at:
            plan = self._tree.inputs[path]
            inner = inner_join(plan) is not None
            source = self._above(path, plan) if inner else self._leaf(plan)
            make = partial(Kept, source, self._rows(plan, source, inner=inner))
            operator = self._graph.obtain(self._key("kept", path, plan), make)
            assert isinstance(operator, Kept), "what has been obtained"
            self._kept_at[path] = operator
        return self._kept_at[path]

    def _rows(self, plan: Plan, source: Operator, *, inner: bool) -> InputRows:
        """Where the rows of an input are."""
        if inner or base_scan(plan) is None:
            return ResultRows(id_width_of(plan) if is_stored(plan) else 1)
        scan = scan_below(source)
        return StemRows(scan.stem, scan.window)  # of a table, also deleted rows, while remembered

    def _above(self, path: Path, plan: Plan) -> Operator:
        """The join at a path, and what filters or renames its rows."""
        if isinstance(plan, Join):
            return self._read_join(path)
        assert isinstance(plan, (Filter, Project)), "nothing else is between joins of a tree"
        source = self._above(path, plan.input)
        make: Callable[[], Operator]
        if isinstance(plan, Filter):
            make = partial(FilterOperator, source, compile_predicate(plan.predicate))
        else:
            make = partial(ProjectOperator, source, [output(e) for e in plan.exprs])
        return self._graph.obtain(self._key("above", path, plan), make)


def _feedback_of(join: JoinOperator) -> JoinFeedback:
    assert join.feedback is not None, "a join of a tree with feedback"
    return join.feedback
