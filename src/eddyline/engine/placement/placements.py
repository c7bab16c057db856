"""The placements of an engine's queries: chosen when they are added, changed while they run."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from eddyline.algebra.catalog import Emit
from eddyline.algebra.plan import Plan
from eddyline.engine.execution.execution import Execution
from eddyline.engine.execution.shared_flow import SharedFlow
from eddyline.engine.ingest.tables import ParameterTable
from eddyline.engine.placement.candidates import (
    SAME_GROUPS,
    SHARED,
    Candidates,
    candidates,
    in_flow,
    why_unshared,
)
from eddyline.engine.placement.eddies import Eddies
from eddyline.engine.placement.placement import FlowPlacement, Placement, TreePlacement
from eddyline.engine.placement.records import record, recorded
from eddyline.engine.placement.reoptimizer import Reoptimizer
from eddyline.engine.query import Query
from eddyline.physical.flows import Sharing
from eddyline.physical.strategy import Strategy
from eddyline.sharing.grouping import lowest_grouping
from eddyline.sharing.instances import Instances
from eddyline.sharing.reordering import LEAST_REORDERED
from eddyline.sharing.signature import Part, Signature


class Placements:
    """Chooses placements of queries, and has the execution carry them out.

    Args:
        queries: those that run, by name.

    Attributes:
        unshared: by key of a placement in a flow, the query that runs without it, or alone in it,
            and takes it as soon as another query does.
        reordered: how many times joins of a running query have got another order by cost.
        may_adapt: whether there are queries that ``adapt`` looks at.
    """

    def __init__(
        self,
        queries: Mapping[str, Query],
        execution: Execution,
        reoptimizer: Reoptimizer,
        strategy: Strategy,
        sharing: Sharing,
    ) -> None:
        self.unshared: dict[Hashable, tuple[Query, FlowPlacement]] = {}
        self.reordered = 0
        self.may_adapt = False
        self._keys: dict[str, list[Hashable]] = {}  # of each query in `unshared`
        self._eddies = Eddies()
        self._queries = queries
        self._execution = execution
        self._reoptimizer = reoptimizer
        self.plan_by(strategy, sharing)

    def plan_by(self, strategy: Strategy, sharing: Sharing) -> None:
        """Choose the placements of queries to come by these options."""
        self._strategy = strategy
        self._sharing = sharing

    def start(self, query: Query) -> None:
        """Run a query in the best of its placements."""
        found = self.candidates_for(query)
        if found.eddy is not None:
            eddy = query.plans.filled(found.eddy)
            for name, moved in self._eddies.add(query.name, eddy).items():
                other = query if name == query.name else self._queries[name]
                self._close(other)
                self._move(other, moved)
        if query.placement is None:
            self._start(query, found)

    def _start(self, query: Query, found: Candidates) -> None:
        """Run a query in the best of its placements without an eddy."""
        filled = query.plans.filled
        reads_groups = self._reads_groups(query, found)
        possible = (p for p in found.shared if not (p.is_grouped and reads_groups))
        shared = map(query.plans.keyed, possible)
        placement = next(filter(self._is_taken, shared), None)
        if placement is not None:
            self._share(query, filled(placement))
        else:
            self._run_alone(query, found)

    def _run_alone(self, query: Query, found: Candidates) -> None:
        """Run a query in a placement that it shares with no other."""
        filled = query.plans.filled
        reads_groups = self._reads_groups(query, found)
        unshared = filled(found.unshared)
        if reads_groups and isinstance(unshared, TreePlacement):
            unshared = replace(unshared, why=SAME_GROUPS)
        if isinstance(unshared, TreePlacement) and self._execution.shares_inputs(unshared.plan):
            unshared = unshared.unrelayed()
        if query.placement is not None and isinstance(unshared, TreePlacement):
            query.plan = unshared.plan  # it may have had another order
        self._move(query, unshared, open_to=filled(found.open_to))

    def start_parameterized(
        self,
        query: Query,
        found: tuple[Signature, Part] | Instances,
        table: ParameterTable,
        *,
        restored: bool,
    ) -> None:
        """Run a query with an instance per row of a table; ``restored``: they are added later."""
        instances = found if isinstance(found, Instances) else None
        signature, part = found[0], found[1]
        placement = in_flow(query.name, signature, part, self._sharing, replaces=False)
        self._add_unshared(placement.key)
        placement = replace(placement, why="its rows share the flow of their signature")
        self._execution.add_parameterized(query, placement, table, instances, restored=restored)

    def stop(self, query: Query) -> None:
        """Stop a query, and free what no other query uses."""
        shared = query.flow
        self._reoptimizer.forget(query)
        self._close(query)
        self._execution.move(query, None)
        if shared is not None:
            self._open_last(shared)
        self._start_again(self._eddies.remove(query.name))
        self._look()

    def _look(self) -> None:
        """Set ``may_adapt``, after placements have changed."""
        self.may_adapt = bool(self._reoptimizer.by_cost or self._eddies.members)

    def adapt(self) -> None:
        """After a chunk: undo eddies that join in vain, and do what the re-optimizer proposes."""
        for number in list(self._eddies.members):
            if self._execution.eddy(number).joins_in_vain:
                self._start_again(self._eddies.give_up(number))
        for query, placement in self._reoptimizer.proposals():
            self.change(query, placement)

    def _start_again(self, names: Iterable[str]) -> None:
        """Run queries without an eddy."""
        for name in names:
            query = self._queries[name]
            self._start(query, self.candidates_for(query))

    def change(self, query: Query, placement: Placement) -> None:
        """Move a query as the re-optimizer proposes."""
        if isinstance(placement, TreePlacement) and placement.joins is not None:
            before, query.plan = query.placement, placement.plan
            if isinstance(before, TreePlacement) and before.orders != placement.orders:
                query.reordered += 1
                self.reordered += 1
        self._move(query, placement)

    # -- checkpoint ----------------------------------------------------

    def saved(self) -> dict[str, Any]:
        """For JSON: the placements by name, and what was measured."""
        return {
            "queries": {n: self._record(q) for n, q in self._queries.items()},
            **self._reoptimizer.saved(),
        }

    def _record(self, query: Query) -> dict[str, Any]:
        assert query.placement is not None, "it runs"
        open_to = [self.unshared[k][1].form for k in self._keys.get(query.name, ())]
        return {**record(query.placement), "open_to": open_to}

    def restore(self, query: Query, saved: Mapping[str, Any]) -> None:
        """Run a query in the placement of which ``saved`` is the record."""
        found = query.plans.filled(self.candidates_for(query))
        open_to = [p for p in found.shared if p.form in saved["open_to"]]
        placement = recorded(found, saved)
        if found.eddy is not None:
            eddy = placement.eddy if isinstance(placement, FlowPlacement) else None
            self._eddies.restore(query.name, found.eddy, eddy)
        if isinstance(placement, TreePlacement) and placement.joins is not None:
            query.plan = placement.plan
        self._move(query, placement, open_to=open_to)

    def restore_measured(self, saved: Mapping[str, Any]) -> None:
        """Take over what was measured; all queries run."""
        self._reoptimizer.restore(saved)

    # ----------------------------------------------------------------------------------------------

    @property
    def shares(self) -> bool:
        """Whether queries share flows."""
        return self._sharing.sharing

    def candidates_of(self, name: str, plan: Plan, emit: Emit, *, replaces: bool) -> Candidates:
        """The placements that a query with this plan can have; ``replaces``: see ``candidates``."""
        return candidates(name, plan, emit, self._strategy, self._sharing, replaces=replaces)

    def candidates_for(self, query: Query) -> Candidates:
        """Perhaps with slots, which ``query.plans.filled`` fills."""
        if query.plans.candidates is not None:
            return query.plans.candidates
        return self.candidates_of(query.name, query.plan, query.emit, replaces=query.replaces)

    def _reads_groups(self, query: Query, found: Candidates) -> bool:
        """Whether a tree groups the same rows, so that the query can read the same groups."""
        if not any(p.is_grouped for p in found.shared):
            return False
        grouping = lowest_grouping(found.tree.plan)
        return grouping is not None and self._execution.groups(query.plans.filled(grouping))

    def _is_taken(self, placement: FlowPlacement) -> bool:
        """Whether another query has this placement, or takes it as soon as this one does."""
        flow = self._execution.flows.get(placement.flow)
        if placement.key in self.unshared or flow is None:
            return placement.key in self.unshared
        return not placement.is_numbered or placement.table in flow.groupings

    def _share(self, query: Query, placement: FlowPlacement) -> None:
        """Run a query in a placement that another query has or takes."""
        self._add_unshared(placement.key)
        self._move(query, placement)

    def _add_unshared(self, key: Hashable) -> None:
        """Move the query that is open to a placement there: another query takes it now."""
        if key in self.unshared:
            query, placement = self.unshared[key]
            self._close(query)
            self._move(query, replace(placement, why=SHARED))

    def _move(
        self, query: Query, placement: Placement, open_to: Iterable[FlowPlacement] = ()
    ) -> None:
        """Run a query in another placement from now on; ``open_to``: see ``Candidates``."""
        self._execution.move(query, placement)
        for other in open_to:
            if other.key not in self.unshared:
                self.unshared[other.key] = query, other
                self._keys.setdefault(query.name, []).append(other.key)
        self._reoptimizer.watch(query)
        self._look()

    def _close(self, query: Query) -> None:
        """A query is not open to other placements any more."""
        for key in self._keys.pop(query.name, ()):
            del self.unshared[key]

    def _open_last(self, shared: SharedFlow) -> None:
        """Let the only query that is left in a flow be an unshared one."""
        if self._sharing.executor != "auto" or shared.flow.members != 1 or len(shared.tables) != 1:
            return
        (table,) = shared.tables.values()
        if table.owner is not None:
            return
        (name,) = table.numbers
        query = self._queries[name]
        assert isinstance(query.placement, FlowPlacement), "it is in the flow"
        if query.placement.eddy is not None:
            return
        placement, found = query.placement, self.candidates_for(query)
        is_reordered = len(placement.signature.sources) >= LEAST_REORDERED
        if is_reordered and not placement.is_numbered and isinstance(found.unshared, TreePlacement):
            self._run_alone(query, found)
            return
        placement = replace(placement, why=why_unshared(placement))
        self._move(query, placement, open_to=() if placement.is_numbered else (placement,))
