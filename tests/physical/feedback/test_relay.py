"""Plans with the rows that joins above operators which take rows back need of those below:
golden/relayed.sql (golden.py says how to rewrite it).
"""

from __future__ import annotations

from pathlib import Path

from eddyline.algebra.explain import explain
from eddyline.algebra.plan import Join, Lookup, Plan
from eddyline.optimizer.optimizer import optimize
from eddyline.physical.feedback.relay import relayed
from eddyline.physical.strategy import Strategy
from eddyline.sharing.reordering import without_second_copies
from golden import bound_plan, check_golden


def as_it_runs(plan: Plan) -> Plan:
    if isinstance(plan, Join) and not isinstance(plan, Lookup):
        plan = relayed(plan, Strategy(feedback="jit"))
    return plan.with_inputs(*map(as_it_runs, plan.inputs))


def shown(sql: str) -> str:
    plan = without_second_copies(optimize(bound_plan(sql)))
    found = as_it_runs(plan)
    return "(unchanged)" if found == plan else explain(found)


def test_golden() -> None:
    check_golden(Path(__file__).parent / "golden" / "relayed.sql", shown)
