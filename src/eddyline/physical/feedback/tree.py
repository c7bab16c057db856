"""A tree of joins with feedback from consumers to producers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import TypeAlias

from eddyline.algebra.plan import (
    Admitted,
    Distinct,
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
from eddyline.physical.evictions import evicting_scans
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.physical.feedback.planner import FeedbackPlanner
from eddyline.physical.feedback.requirements import (
    JoinTree,
    Path,
    inner_join,
    is_outside,
    join_below,
    join_tree,
    joins_between,
    requirements_of,
)
from eddyline.physical.patterns import base_scan, row_ids_of
from eddyline.physical.strategy import Strategy, TreeInputs
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.feedback.join_feedback import JoinFeedback
from eddyline.runtime.feedback.key_sample import KeySample
from eddyline.runtime.feedback.trial import very_many
from eddyline.runtime.graph import Graph
from eddyline.runtime.join_inputs.admitted_rows import AdmittedRows, OnArrival
from eddyline.runtime.join_inputs.buffer import InputBuffer
from eddyline.runtime.join_inputs.gated_input import GatedInput
from eddyline.runtime.join_inputs.gated_rows import GatedRows
from eddyline.runtime.join_inputs.join_input import InputRows, StemRows
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.join import Join as JoinOperator
from eddyline.runtime.operators.stateless import Filter as FilterOperator
from eddyline.runtime.operators.stateless import Project as ProjectOperator

#: Operators that must run before another one.
Probed: TypeAlias = dict[Operator, None]


def takes_feedback(plan: Join, strategy: Strategy) -> bool:
    """Whether a join runs as a tree with feedback: another join is one of its inputs, and no input
    deletes rows.
    """
    if strategy.feedback == "off" or plan.takes_back or not plan.feeds_back:
        return False
    return any(join_below(p) is not None for p in plan.inputs)


def feeds_back(plan: Plan, strategy: Strategy) -> bool:
    """Whether a look-up join gives feedback to the joins below: each row is looked up in the table
    as of its own instant, and a later row of the table is no match for it.

    ``auto`` excludes a single join: other queries may read it.
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

    Joins below the top are shared with other trees: their gates have a consumer per tree. Not so
    where a tree has the same join twice.

    Args:
        top: the join on top, or the look-up join above it, or the rows of it that are needed.
        inputs: builds the operators of inputs that are no joins of the tree.

    Attributes:
        shares_joins: joins and indexes are shared with other trees.
        suspends_pairs: whether ``Strategy.combinations`` applies.
    """

    shares_joins = True
    suspends_pairs = True

    def __init__(
        self,
        top: Join | LookupSemiJoin | Admitted,
        graph: Graph,
        strategy: Strategy,
        inputs: TreeInputs,
    ) -> None:
        self._top = top
        self._graph = graph
        self._strategy = strategy
        self._inputs = inputs
        self._tree = _tree_of(top, strategy)
        self._planner = FeedbackPlanner(
            self._tree, top, graph, strategy, self._buffer, self._admitted, self._name
        )
        joins = list(self._tree.joins.values())
        self._is_shared = self.shares_joins and len(set(joins)) == len(joins)
        self._buffers: dict[Path, InputBuffer] = {}
        self._read: list[tuple[tuple[Gate, ...], Path]] = []
        self._probed: list[tuple[Operator, list[Operator]]] = []

    def looking_up(self, make: Callable[[Operator], Operator]) -> Operator:
        """The look-up join above the tree; ``make`` builds it over the top of the tree."""
        below = self._top.input if isinstance(self._top, Admitted) else self._top.left
        return self._while_read(lambda: make(self._above((), below)))

    def admitted(self, scans: Sequence[Operator]) -> Operator:
        """The rows of the top's input that are needed; ``scans``: as of ``OnArrival``."""
        assert isinstance(self._top, Admitted), "the top"
        if isinstance(self._top.input, Join):
            return self.looking_up(partial(self._on_arrival, scans))
        rows = self._graph.obtain(("admitted rows", self._top), self._admitted_rows)
        return self._on_arrival(scans, rows)

    def _admitted_rows(self) -> Operator:
        """The rows of an input that is no join, as far as they are needed."""
        probed: Probed = {}
        probes = [self._planner.probe(r, probed) for r in self._tree.requirements[()]]
        buffer, trying = self._buffer(()), self._strategy.feedback == "auto"
        name = self._name(()), self._name((-1,))
        gate = Gate(name, buffer, trying=trying, pairs=lambda: admitted.rows_made())
        gate.add(self, probes, unjudged=False)
        admitted = AdmittedRows(buffer, gate, list(probed))
        return admitted

    def _on_arrival(self, scans: Sequence[Operator], rows: Operator) -> Operator:
        partners = [self._buffer(path) for path in self._tree.inputs if is_outside(path)]
        return OnArrival(rows, [*partners, *scans])

    def join(self) -> Operator:
        join = self._while_read(partial(self._join, (), {}))
        if any(evicting_scans(self._top)):
            assert isinstance(join, JoinOperator), "the join on top"
            _feedback_of(join).takes_back = True
        return join

    def _while_read(self, make: Callable[[], Operator]) -> Operator:
        """The operator above all joins with gates; the tree is a consumer until it is closed."""
        try:
            operator = make()
        except EddylineError:
            self._stop_reading()
            raise
        self._graph.before_closing(operator, self._stop_reading)
        return operator

    def _stop_reading(self) -> None:
        for gates, path in self._read:
            for gate in gates:
                gate.remove((self, path))
        for operator, probed in self._probed:
            self._graph.remove_inputs(operator, probed)
        self._read.clear()
        self._probed.clear()

    def _read_join(self, path: Path) -> Operator:
        """A join whose rows the tree reads, with the tree as a consumer of its gates."""
        probed: tuple[Probed, Probed] = {}, {}
        wanted = [
            [self._planner.probe(r, probed[s]) for r in self._tree.requirements[(*path, s)]]
            for s in (0, 1)
        ]
        for side in (0, 1):
            self._buffer((*path, side))  # the joins below may exist already, without this consumer
        key = self._key("join", path, self._tree.joins[path])
        is_new, further = key not in self._graph, Probed()
        join = self._graph.obtain(key, partial(self._join, path, further))
        assert isinstance(join, JoinOperator), "the key of a join"
        feedback, judges = _feedback_of(join), self._judges(join)
        if not is_new and self._is_circular(judges, probed):
            # In other trees it runs first: then this tree requires all of its rows.
            for probe in chain(*wanted):
                probe.close()
            wanted, probed = [[], []], ({}, {})
        if is_new and self.suspends_pairs:
            feedback.combinations = self._planner.combinations(feedback, path, further)
        elif feedback.combinations is not None:
            feedback.combinations.ending = True
        for side, probes in enumerate(wanted):
            gate = feedback.gates[side]
            gate.add((self, path), probes, unjudged=not is_new)
            required = self._tree.requirements[(*path, side)] if probes else ()
            feedback.inputs[side].between = [joins_between(path, r) for r in required]
        for operator, more in zip((join, *judges), (further, *probed), strict=True):
            self._graph.add_inputs(operator, list(more))
            self._probed.append((operator, list(more)))
        self._read.append((feedback.gates, path))
        if not is_new:
            self._graph.has_more(join)
        return join

    def _judges(self, join: JoinOperator) -> tuple[Operator, Operator]:
        """The operators that probe for the rows of a join's inputs."""
        left, right = _feedback_of(join).inputs
        return left.source, right.source

    def _is_circular(self, judges: Iterable[Operator], probed: Iterable[Probed]) -> bool:
        """Whether some of the operators that are to be probed have to run later."""
        return any(
            self._graph.is_below(judge, operator)
            for judge, operators in zip(judges, probed, strict=True)
            for operator in operators
        )

    def _join(self, path: Path, further: Probed) -> JoinOperator:
        """A join; adds other operators that must run before it to ``further``."""
        join, is_read = self._tree.joins[path], self._is_read(path)
        left, right = (self._input((*path, side), gated=is_read) for side in (0, 1))
        feedback = self._feedback(path, left, right, further)
        return JoinOperator(left.source, right.source, (left, right), residual(join), feedback)

    def _is_read(self, path: Path) -> bool:
        """Whether the rows of the join at a path have a consumer in the tree."""
        return bool(path) or isinstance(self._top, (Lookup, Admitted))

    def _input(self, path: Path, *, gated: bool) -> GatedInput:
        """An input of a join."""
        buffer, join = self._buffer(path), self._tree.joins[path[:-1]]
        exprs = tuple(pair[path[-1]] for pair in join.keys)
        keys, scanned = [compile_expr(e) for e in exprs], self._strategy.nested_loops
        if gated:
            return GatedInput(buffer, keys, self._gated_rows(path))
        shared = None
        if not (scanned or path in self._tree.joins):
            shared = self._planner.index(path, exprs)
        return GatedInput(buffer, keys, None, shared=shared, scanned=scanned)

    def _admitted(self, path: Path) -> InputBuffer | GatedRows:
        """The rows of an input that its gate admits, or all, if it has none."""
        is_gated = not is_outside(path) and self._is_read(path[:-1])
        return self._gated_rows(path) if is_gated else self._buffer(path)

    def _gated_rows(self, path: Path) -> GatedRows:
        """The rows of an input of a join that is read."""

        def make() -> GatedRows:
            name = self._name(path), self._name((*path[:-1], 1 - path[-1]))
            buffer, trying = self._buffer(path), self._strategy.feedback == "auto"
            keys = [compile_expr(pair[path[-1]]) for pair in join.keys]
            scanned, returning = self._strategy.nested_loops, not self._strategy.combinations
            pairs = partial(self._partners_in, path) if trying else very_many
            gate = Gate(name, buffer, trying=trying, pairs=pairs)
            rows = GatedRows(buffer, gate, keys, returning=returning, scanned=scanned)
            rows.sample = KeySample(scanned=scanned or not keys) if trying else None
            return rows

        join = self._tree.joins[path[:-1]]
        rows = self._graph.obtain(self._key(("gate", path[-1]), path[:-1], join), make)
        assert isinstance(rows, GatedRows), "the key of gated rows"
        return rows

    def _partners_in(self, path: Path) -> float:
        """How many rows of the other input of its join a row of an input meets; it is not known
        while that is a join whose rows are suspended themselves.
        """
        beside = (*path[:-1], 1 - path[-1])
        below = [p for p in self._tree.joins if p[: len(beside)] == beside]
        gates = (self._gated_rows((*p, side)).gate for p in below for side in (0, 1))
        if not all(gate.is_unprobed for gate in gates):
            return very_many()
        own, other = (self._gated_rows(p).sample for p in (path, beside))
        assert own is not None and other is not None, "trials are made"
        return own.partners_in(other)

    def _feedback(
        self, path: Path, left: GatedInput, right: GatedInput, further: Probed
    ) -> JoinFeedback:
        """The feedback of a join; ``further`` as in ``_join``."""
        return JoinFeedback(left, right)

    def _key(self, what: Hashable, path: Path, plan: Plan) -> Hashable:
        """The key of an operator of the tree in the graph."""
        return (what, plan) if self._is_shared else (what, plan, self._top, path)

    def _name(self, path: Path) -> str:
        """The name of an input, for statistics."""
        if path in self._tree.joins:
            return f"({self._name((*path, 0))} ⋈ {self._name((*path, 1))})"
        scan = base_scan(self._tree.inputs[path])
        match scan:
            case StreamScan():
                return scan.stream
            case TableScan():
                return scan.table
        return type(self._tree.inputs[path]).__name__

    def _buffer(self, path: Path) -> InputBuffer:
        if path not in self._buffers:
            plan = self._tree.inputs[path]
            is_join = join_below(plan) is not None
            inner, what = is_join and not is_outside(path), "buffer"
            source = self._result(path, plan) if inner else self._inputs.leaf(plan)
            make = partial(InputBuffer, source, self._rows(plan, source, inner=inner))
            if is_join and not inner:
                what = "all results"
            operator = self._graph.obtain(self._key(what, path, plan), make)
            assert isinstance(operator, InputBuffer), "what has been obtained"
            self._buffers[path] = operator
        return self._buffers[path]

    def _rows(self, plan: Plan, source: Operator, *, inner: bool) -> InputRows:
        """Where the rows of an input are stored."""
        if inner or base_scan(plan) is None:
            return self._inputs.results(plan)
        scan = scan_below(source)
        return StemRows(scan.stem, scan.window)  # of a table, also deleted rows, while remembered

    def _result(self, path: Path, plan: Plan) -> Operator:
        """The join at a path, with what is between it and the next, and its rows in a store."""
        source = self._above(path, plan)
        return source if row_ids_of(plan).stored else self._inputs.spooled(plan, source)

    def _above(self, path: Path, plan: Plan) -> Operator:
        """The join at a path, with what is between it and the next."""
        if isinstance(plan, Join):
            return self._read_join(path)
        assert isinstance(plan, (Filter, Project, Distinct)), "nothing else is between joins"
        source = self._above(path, plan.input)
        make: Callable[[], Operator]
        if isinstance(plan, Distinct):
            make = partial(self._inputs.distinct, plan, source)
        elif isinstance(plan, Filter):
            make = partial(FilterOperator, source, compile_predicate(plan.predicate))
        else:
            make = partial(ProjectOperator, source, [output(e) for e in plan.exprs])
        return self._graph.obtain(self._key("above", path, plan), make)


def _tree_of(top: Join | LookupSemiJoin | Admitted, strategy: Strategy) -> JoinTree:
    if isinstance(top, Admitted):
        if isinstance(top.input, Join):
            return join_tree(top.input, strategy, top)
        tree = JoinTree({}, {(): top.input}, {}, {}, {})
        tree.requirements[()] = requirements_of(top, tree)
        return tree
    if isinstance(top, Lookup):
        join = inner_join(top.left)
        assert join is not None, "feeds_back says so"
        return join_tree(join, strategy, top)
    return join_tree(top, strategy)


def _feedback_of(join: JoinOperator) -> JoinFeedback:
    assert join.feedback is not None, "a join of a tree with feedback"
    return join.feedback
