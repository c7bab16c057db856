"""Queries to operators: what a query emits and, if its answer is materialised, what keeps it.

This is the planner of the UPA strategy: rows expire by their ``exp``, and the update pattern of
what a store holds picks its structure. The planners of other strategies
(``physical/state_forms.py``) override what these do in another way.

Source: Golab and Ozsu 2005, section 5.3.2.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from eddyline.algebra.catalog import Emit
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import Filter, GroupBy, Join, Lookup, Plan, Project
from eddyline.algebra.reads import nodes
from eddyline.physical.compiled import output
from eddyline.physical.feedback.relay import relayed
from eddyline.physical.node_planner import NodePlanner
from eddyline.physical.patterns import (
    is_endless,
    keeps_output,
    replaced_by,
    row_ids_of,
    unbounded_scan,
)
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.expire import WithoutExpiries
from eddyline.runtime.operators.group_values import ShownGroups
from eddyline.runtime.operators.join import Join as JoinOperator
from eddyline.runtime.operators.snapshots import Snapshots
from eddyline.runtime.operators.stateless import Project as ProjectOperator
from eddyline.runtime.operators.view import ExpiringView, KeyedView, View
from eddyline.runtime.operators.windowed import RepeatedIds
from eddyline.runtime.stores.answers import AnswerCalendar, AnswerQueue, AnswerStore, LazyAnswerList


class Planner(NodePlanner):
    """Builds the operators of queries: what they emit, and their materialised answers."""

    def query(self, plan: Plan, emit: Emit, *, all_changes: bool | None = None) -> Operator:
        """The operator whose output is what the query emits.

        Args:
            all_changes: see ``reads_all_changes``, which decides if it is None.
        """
        if emit.adds_only:
            return self._inserts(plan)
        if emit.mode == "snapshot":
            assert emit.every_us is not None
            period = emit.every_us, emit.offset_us
            if all_changes is None:
                all_changes = self.reads_all_changes(plan)
            below = self.build(plan, probed=True) if all_changes else self._ticking(plan, *period)
            source = self._spooled(plan, below)
            make = partial(Snapshots, source, *period)
            return self._graph.obtain(("snapshot", plan, *period), make)
        source, width = self._output_stored(plan, self.build(plan, probed=True))
        source, is_explicit = self._answer(plan, source, width)
        return source if is_explicit else self.with_expiries(plan, source, width)

    def source(self, plan: Plan, *, kept: bool = False) -> Operator:
        """The operator of a plan whose rows a flow reads; ``kept``: they are in a store if answers
        are materialised.
        """
        source = self.build(plan, probed=not is_endless(plan))
        ids = row_ids_of(plan)
        if ids.stored or not (kept and self.is_materialised(plan)):
            return source
        spooled = self._spooled(plan, source)
        return self._graph.obtain(("ids", spooled), partial(RepeatedIds, spooled, ids.width))

    def runs_source(self, plan: Plan) -> bool:
        """Whether there is the operator that ``source`` returns."""
        return self._key(plan, not is_endless(plan)) in self._graph

    def join(self, plan: Join) -> JoinOperator | None:
        """The operator of a join that runs in a tree."""
        keys = (("join", plan), self._key(plan, True), self._key(plan, False))
        found = map(self._graph.find, keys)
        return next((o for o in found if isinstance(o, JoinOperator)), None)

    def runs(self, grouping: Plan) -> bool:
        """Whether there is an operator of this GROUP BY or DISTINCT already."""
        return ("replacing", grouping) in self._graph or self._key(grouping, True) in self._graph

    def shares_inputs(self, plan: Plan) -> bool:
        """Whether inputs of joins of a plan, which take rows back, run for other queries: with all
        their rows, or with those that others need. Feedback is always relayed with ``jit``.
        """
        if self._strategy.feedback != "auto":
            return False
        return any(
            self._key(side, True) in self._graph or self._relayed.get(side, needed) != needed
            for node in nodes(plan)
            if isinstance(node, Join) and not isinstance(node, Lookup) and node.takes_back
            for side, needed in zip(node.inputs, relayed(node, self._strategy).inputs, strict=True)
            if side != needed
        )

    def reads_all_changes(self, plan: Plan) -> bool:
        """Whether a plan that is read at multiples of a period alone reads all changes of groups,
        as another query does: else the last one before each instant is enough.
        """
        while isinstance(plan, (Filter, Project)):
            plan = plan.input
        return type(plan) is not GroupBy or self.runs(plan)

    def _ticking(self, plan: Plan, every_us: int, offset_us: int) -> Operator:
        """The operator of a plan over groups that is read at multiples of a period alone."""
        shown = ShownGroups(every_us=every_us, offset_us=offset_us)
        if isinstance(plan, GroupBy):
            make = partial(self._group, plan, retract=True, shown=shown)
            return self._graph.obtain(("ticking", plan, every_us, offset_us), make)
        assert isinstance(plan, (Filter, Project)), "others are below groups"
        source = self._ticking(plan.input, every_us, offset_us)
        return self._graph.obtain(("ticking", plan, source), partial(self._above, plan, source))

    def _inserts(self, plan: Plan) -> Operator:
        source, is_explicit = self._replacing(plan), False
        if self.is_materialised(plan):
            source, is_explicit = self._answer(plan, *self._output_stored(plan, source))
        return self._without_expiries(source) if is_explicit else source

    def _without_expiries(self, source: Operator) -> Operator:
        """The source without the '-' rows of expiry."""
        return self._graph.obtain(("without expiries", source), partial(WithoutExpiries, source))

    def materialises(self, plan: Callable[[], Plan]) -> bool:
        """As ``is_materialised``; the plan is made only where answers are."""
        return self._strategy.views and self.is_materialised(plan())

    def is_materialised(self, plan: Plan) -> bool:
        """Whether the answer of a query is kept apart from the state of its operators."""
        return self._strategy.views and not keeps_output(plan) and not unbounded_scan(plan)

    def _answer(self, plan: Plan, source: Operator, width: int) -> tuple[Operator, bool]:
        """The source, whose rows are stored, below its materialised answer if the strategy keeps
        one; and whether there is a '-' for every row that expires.
        """
        if not self.is_materialised(plan):
            return source, False
        strict = plan.takes_back
        if strict and self.longest_life(plan) is None:
            return self._keyed_answer(self.with_expiries(plan, source, width), width), True
        store = partial(self.answers, plan, 3 + width + strict)
        make = partial(_expiring_view, source, store, width, strict)
        return self._graph.obtain(("view", source), make), False

    def _keyed_answer(self, source: Operator, width: int) -> Operator:
        return self._graph.obtain(("view", source), partial(KeyedView, source, width))

    def _replacing(self, plan: Plan) -> Operator:
        """The operator of a whole query, without the '-' of rows that a '+' replaces."""
        if replaced_by(plan) is None:
            return self.build(plan, probed=not is_endless(plan))
        if isinstance(plan, GroupBy):
            make = partial(self._group, plan, retract=False)
            return self._graph.obtain(("replacing", plan), make)
        if isinstance(plan, Project):
            source = self._replacing(plan.input)
            make_project = partial(ProjectOperator, source, [output(e) for e in plan.exprs])
            return self._graph.obtain(("replacing", plan), make_project)
        return self.build(plan)

    def longest_life(self, plan: Plan) -> int | None:
        """How long rows of a plan are in an answer, at most; None: that is not known."""
        return plan.lifespan_us

    def answers(self, plan: Plan, width: int) -> AnswerStore:
        """A store for the answer of a plan: ``width`` lanes, the first being the expiry."""
        if plan.pattern <= Pattern.WKS:
            return AnswerQueue(width)
        lifespan = self.longest_life(plan)
        if lifespan is None:
            return LazyAnswerList(width)
        return AnswerCalendar(width, self._strategy.partitions, lifespan)


def _expiring_view(
    source: Operator, new_store: Callable[[], AnswerStore], width: int, strict: bool
) -> View:
    return ExpiringView(source, new_store(), width, strict=strict)
