"""Trees of joins over windows of rows: a '-' is made by the join on top, not by every join."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from eddyline.algebra.plan import Filter, Join, Plan, Project, StreamScan
from eddyline.physical.patterns import row_ids_of


def without_evictions(plan: Plan) -> Plan | None:
    """The same joins over windows of rows that report no evictions.

    None if other inputs take rows back, or if rows are put into a store below a join.
    """
    if not plan.takes_back:
        return plan
    if isinstance(plan, StreamScan):
        return replace(plan, evicts=False)
    passes = type(plan) is Join or isinstance(plan, (Filter, Project))
    if not passes or not row_ids_of(plan).stored:
        return None
    inputs = [without_evictions(p) for p in plan.inputs]
    known = [p for p in inputs if p is not None]
    return plan.with_inputs(*known) if len(known) == len(inputs) else None


def evicting_scans(plan: Plan, first: int = 0) -> Iterator[tuple[int, StreamScan]]:
    """The windows of rows below results, each with the number of its id among those of a result.

    Args:
        plan: as ``without_evictions`` returns it. first: number of the plan's first id.
    """
    if isinstance(plan, StreamScan) and not plan.evicts:
        yield first, plan
    elif type(plan) is Join:
        for side in plan.inputs:
            yield from evicting_scans(side, first)
            first += row_ids_of(side).stored_width
    elif isinstance(plan, (Filter, Project)):
        yield from evicting_scans(plan.input, first)
