"""Flows: the operators of queries that run together, and the part of each query."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import pyarrow as pa

from eddyline.algebra.expressions import ColumnRef, Expr, conjunction
from eddyline.algebra.parameters import has_parameters
from eddyline.algebra.plan import MatchedRows, Plan, SharedRows, StreamScan
from eddyline.algebra.windows import PartitionRows
from eddyline.physical.above_flows import SharedSource, operators_above
from eddyline.physical.clauses import clauses
from eddyline.physical.compiled import with_row
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.physical.node_planner import StemOf
from eddyline.physical.patterns import replaced_by
from eddyline.physical.planner import Planner
from eddyline.physical.strategy import Strategy
from eddyline.runtime.batch import Evaluator, Predicate
from eddyline.runtime.constants import Constants
from eddyline.runtime.eddy.eddy import Eddy
from eddyline.runtime.eddy.eddy_flow import EddyFlow
from eddyline.runtime.eddy.edges import Equality, JoinGraph, Key, keys_of
from eddyline.runtime.eddy.filter_flow import FilterFlow
from eddyline.runtime.eddy.flow import Flow, Member
from eddyline.runtime.eddy.gates import Gates
from eddyline.runtime.eddy.join_flow import JoinFlow, Selections
from eddyline.runtime.eddy.per_query import PerQuery
from eddyline.runtime.eddy.policies import Policy, PolicyName, make_policy
from eddyline.runtime.eddy.right_rows import RightRows
from eddyline.runtime.graph import Graph
from eddyline.runtime.join_inputs.flow_partitions import FlowPartitionRows
from eddyline.runtime.join_inputs.flow_windows import FlowRows, FlowWindow
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.stateless import Scan
from eddyline.runtime.window_join.schedules import apart, make_schedule
from eddyline.sharing.existence import Existence, common_rights, existences, right_stream
from eddyline.sharing.signature import Part, Signature, spanning
from eddyline.types import FOREVER

Executor = Literal["auto", "tree", "eddy"]
Schedules = Literal["lwo", "swf", "greedy"]


@dataclass(frozen=True)
class Sharing:
    """How queries run together.

    Source: Madden et al. 2002, Hammad et al. 2003.

    Attributes:
        rows_per_step: rows of a shared window join that are served in one step.
        seed: of the routing policy.

    The others are fields of :class:`eddyline.engine.options.StrategyOptions`, and documented there.
    """

    sharing: bool = True
    executor: Executor = "auto"
    policy: PolicyName = "ticket"
    selections: Selections = "auto"
    schedule: Schedules = "greedy"
    rows_per_step: int = 4_096
    seed: int = 0

    def new_policy(self) -> Policy:
        """A routing policy for one set of operators."""
        return make_policy(self.policy, self.seed)


@dataclass(frozen=True)
class EddyNumber:
    """Identifies an eddy that flows of several signatures share."""

    number: int


class FlowPlanner:
    """Builds flows into a graph.

    Args:
        planner: of the operators below flows.
        stem_of: how it gets at the SteM of a stream.
    """

    def __init__(
        self,
        graph: Graph,
        planner: Planner,
        stem_of: StemOf,
        sharing: Sharing,
        strategy: Strategy,
    ) -> None:
        self._graph = graph
        self._planner = planner
        self._stem_of = stem_of
        self._sharing = sharing
        self._strategy = strategy

    def flow(self, signature: Signature, key: object, eddy: EddyNumber | None) -> Flow:
        """The flow of this signature.

        Args:
            key: equal for queries that share the flow.
            eddy: which makes its joins; None: itself.
        """
        make = partial(self._make, signature, key)
        if eddy is not None:
            make = partial(self._in_eddy, signature, eddy)
        flow = self._graph.obtain(("flow", signature, key), make)
        assert isinstance(flow, Flow), "the key of a flow"
        return flow

    def per_query(self, flow: Flow, part: Part, width: int, *, replaces: bool = True) -> PerQuery:
        """The operators above a flow that serve all its queries with this plan and EMIT there.

        Args:
            width: number of columns of the flow.
            replaces: new rows of groups may replace older ones.
        """
        above, emit = part.above, part.emit
        assert above is not None, "else results come from the flow"
        replaces = replaces or replaced_by(above) is None
        key = ("per query", flow, part.outputs, above, emit, replaces)

        def make() -> PerQuery:
            above_lengths = len(part.windows) - len(part.filters)
            types = [*(c.type for c in part.constants), *[pa.int64()] * above_lengths]
            constants = Constants(types)
            own = {i for i, e in enumerate(part.outputs) if has_parameters(e)}
            columns = [output_of(e) for i, e in enumerate(part.outputs) if i not in own]
            late = [part.outputs[i] for i in sorted(own)]
            computed = map(compile_expr, with_row(late, width))
            rights = self._right_streams(above, len(part.constants), key)
            below = [r.scan for plan, r in rights.items() if isinstance(plan, MatchedRows)]
            others: dict[Plan, Operator] = {
                p: r.scan for p, r in rights.items() if not isinstance(p, MatchedRows)
            }
            others |= {p: self._planner.source(p) for p in common_rights(above)}
            inputs = (flow, *below, *others.values())
            places = {p: i for i, p in enumerate(others, start=1 + len(below))}
            source = SharedSource(flow, columns, constants, replaces, bool(own), rights, places)
            made = partial(operators_above, above, emit, self._stem_of, self._strategy, source)
            late_columns = dict(zip(sorted(own), computed, strict=True))
            return PerQuery(inputs, columns, made, constants, late_columns)

        operator = self._graph.obtain(key, make)
        assert isinstance(operator, PerQuery), "the key of such operators"
        return operator

    def _right_streams(self, above: Plan, constants: int, key: object) -> dict[Plan, RightRows]:
        """The streams that the operators of this plan, which have this key, match with in windows
        of each query, by the plan of the matching, from the lowest upwards.

        Args:
            constants: the number of constants before the lengths of these windows.
        """
        lowest = above
        while not isinstance(lowest, SharedRows):
            lowest = lowest.inputs[0]
        found: dict[Plan, RightRows] = {}

        def add(
            plan: MatchedRows | Existence,
            right: Plan,
            keys: Sequence[tuple[Expr, Expr]],
            terms: Sequence[Expr],
        ) -> None:
            number = len(found)
            scan = self._scan(1 + number, right, FlowWindow(joined=False), key)
            condition = conjunction(tuple(terms))
            found[plan] = RightRows(
                scan,
                tuple(field.type for field in right.schema),
                None if condition is None else compile_predicate(condition),
                tuple(compile_expr(a) for a, _ in keys),
                tuple(compile_expr(b) for _, b in keys),
                tuple(a.type for a, _ in keys),
                plan.nulls_match,
                constants + number,
            )

        if isinstance(lowest, MatchedRows):
            add(lowest, lowest.right, lowest.keys, lowest.terms)
        for plan in existences(above):
            flat = right_stream(plan)
            if flat is not None:
                keys = [(a, flat.computed(b)) for a, b in plan.keys]
                add(plan, flat.leaves[0], keys, flat.terms)
        return found

    def _make(self, signature: Signature, key: object) -> Flow:
        new_policy = self._sharing.new_policy
        if not signature.windowed:
            (source,) = signature.sources
            return FilterFlow([self._planner.source(source, kept=True)], [], new_policy)
        joined = len(signature.sources) > 1
        edges = tuple(
            Equality(e.left, e.right, _key(e.left_key), _key(e.right_key)) for e in signature.edges
        )
        keys = [keys_of(number, edges) for number in range(len(signature.sources))]
        windows = [
            self._rows_of(n, signature, key, keys[n]) if counted else FlowWindow(joined=joined)
            for n, counted in enumerate(signature.counted)
        ]
        sources = [
            self._scan(number, source, window, (signature, key))
            for number, (source, window) in enumerate(zip(signature.sources, windows, strict=True))
        ]
        if not joined:
            return FilterFlow(sources, windows, new_policy)
        inputs = [
            LineageInput(scan.stem, window, own)
            for scan, window, own in zip(sources, windows, keys, strict=True)
        ]
        for rows, names in zip(inputs, keys, strict=True):
            if isinstance(rows.window, FlowPartitionRows):
                chained = [n for n in names if _columns(n) == rows.window.columns]
                rows.window.are_chained_in([rows.by_key(n).hashed for n in chained])
        condition = conjunction(signature.theta)
        first = {(e.left, e.right) for e in spanning(signature.edges, range(len(inputs)))}
        tied = [e for e in edges if (e.left, e.right) in first]  # matches of others follow
        return JoinFlow(
            sources,
            inputs,
            JoinGraph(edges, None if condition is None else compile_predicate(condition)),
            new_policy,
            gates=self._gates(inputs, tied),
            schedule=make_schedule(self._sharing.schedule, self._sharing.rows_per_step, apart),
            selections=self._sharing.selections,
        )

    def _in_eddy(self, signature: Signature, number: EddyNumber) -> Flow:
        eddy = self._graph.obtain(number, Eddy)
        assert isinstance(eddy, Eddy), "the key of an eddy"
        windows = [FlowWindow(joined=True) for _ in signature.sources]
        scans = [
            self._scan(0, source, window, number)
            for source, window in zip(signature.sources, windows, strict=True)
        ]
        self._graph.add_inputs(eddy, [scan for scan in scans if scan not in eddy.inputs])
        sources = []
        for scan in scans:
            assert isinstance(scan.window, FlowWindow), "made above, or for another flow"
            sources.append(eddy.source(scan, scan.window, self._sharing.new_policy))

        def key_of(expr: Expr) -> Key:
            return replace(_key(expr), name=eddy.name_of(expr))

        edges = [
            Equality(
                sources[e.left].number,
                sources[e.right].number,
                key_of(e.left_key),
                key_of(e.right_key),
            )
            for e in signature.edges
        ]
        flow = EddyFlow(eddy, sources, edges, self._sharing.new_policy)
        self._graph.before_closing(flow, partial(self._leave, flow))
        return flow

    def _leave(self, flow: EddyFlow) -> None:
        """Take a flow out of its eddy, which is closed with the last one."""
        self._graph.remove_inputs(flow.eddy, flow.leave())

    def _gates(self, inputs: Sequence[LineageInput], edges: Sequence[Equality]) -> Gates | None:
        if len(inputs) < 3 or self._strategy.feedback == "off":
            return None
        feedback = self._strategy.feedback
        by_key, trying = feedback != "doe", feedback == "auto"
        return Gates(inputs, edges, by_key=by_key, trying=trying)

    def _rows_of(
        self, number: int, signature: Signature, key: object, names: Collection[Hashable]
    ) -> FlowRows:
        """The window of a source whose windows count rows; ``names``: of its join keys."""
        source = signature.sources[number]
        assert isinstance(source, StreamScan), "what has windows is a stream"
        stem, window = self._stem_of(source.stream), source.window
        if not isinstance(window, PartitionRows):
            return FlowRows(stem)
        orders = (c for c in map(_columns, names) if sorted(c) == sorted(window.columns))
        columns = next(orders, window.columns)  # in the order of a join key: see ``is_partition``
        return FlowPartitionRows(stem, str((number, signature, key)), columns)

    def _scan(self, number: int, source: Plan, window: FlowWindow | FlowRows, flow: object) -> Scan:
        assert isinstance(source, StreamScan), "what has windows is a stream"
        stem = self._stem_of(source.stream)
        key = ("flow", number, flow)

        def make() -> Scan:
            stem.open_window(key, lambda: window)
            return Scan(stem, window, key)

        scan = self._graph.obtain((key, source), make)
        assert isinstance(scan, Scan), "the key of a scan"
        return scan


def member(part: Part) -> Member:
    """The part of a query in the flow of its signature."""
    return Member(
        filters=tuple(clauses(terms) for terms in part.filters),
        residual=clauses(part.residual),
        windows=windows_of(part),
        predicates=tuple(map(_predicate, part.filters)),
        accepts=(part.filters, part.residual),
    )


def windows_of(part: Part) -> tuple[int, ...]:
    """How long rows of each source live, in microseconds or in rows; FOREVER: for ever."""
    lengths = part.windows[: len(part.filters)]
    return tuple(FOREVER if length is None else length for length in lengths)


def _columns(name: Hashable) -> tuple[int, ...]:
    """The columns of a source that are a join key; none if one is computed."""
    assert isinstance(name, tuple), "as of ``keys_of``"
    exprs = [e for e in name if isinstance(e, ColumnRef)]
    return tuple(e.index for e in exprs) if len(exprs) == len(name) else ()


def _key(expr: Expr) -> Key:
    return Key(expr, expr.type, compile_expr(expr), plain=isinstance(expr, ColumnRef))


def _predicate(terms: tuple[Expr, ...]) -> Callable[[], Predicate] | None:
    return partial(_compiled, terms) if terms else None


def _compiled(terms: tuple[Expr, ...]) -> Predicate:
    condition = conjunction(terms)
    assert condition is not None, "there are terms"
    return compile_predicate(condition)


def output_of(expr: Expr) -> int | Evaluator:
    """An output column: an input column's number, or how to compute it."""
    return expr.index if isinstance(expr, ColumnRef) else compile_expr(expr)
