"""Which queries that group can share one grouping, and the plan that serves all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from eddyline.algebra.explain import explain
from eddyline.algebra.plan import Plan
from eddyline.optimizer.optimizer import optimize
from eddyline.sharing.grouping import decompose_grouped
from golden import bound_plan, check_golden


def shown(plan: Plan) -> str:
    """What a query has of its own, what it makes of it, and the plan that all share."""
    found = decompose_grouped(plan)
    if found is None:
        return "none"
    signature, part = found
    assert part.above is not None
    lines = [f"source: {type(s).__name__} {s.label}" for s in signature.sources]
    lines += [f"own filter: {term}" for terms in part.filters for term in terms]
    lines += [f"own residual: {term}" for term in part.residual]
    lines.append(f"own names: {', '.join(part.names)}")
    lines.append(f"columns: {', '.join(map(str, part.outputs))}")
    plan_lines = explain(part.above).splitlines()
    below = next(i for i, line in enumerate(plan_lines) if "SharedRows" in line)
    depth = plan_lines[below].index("SharedRows")
    others = [line for line in plan_lines[below + 1 :] if line[:depth].strip()]  # no inputs of it
    return "\n".join([*lines, *plan_lines[: below + 1], *others])


def test_golden() -> None:
    path = Path(__file__).parent / "golden" / "groupings.sql"
    check_golden(path, lambda sql: shown(optimize(bound_plan(sql))))


COUNTS = "SELECT symbol, COUNT(*) AS n FROM trades [RANGE 1 MINUTE] WHERE price > 5 GROUP BY symbol"
SAME = {
    "other filters": COUNTS.replace("price > 5", "qty = 3 OR price < 2"),
    "another window": COUNTS.replace("1 MINUTE", "5 SECONDS"),
    "no filter": COUNTS.replace("WHERE price > 5", ""),
    "other aliases": "SELECT t.symbol, COUNT(*) AS n FROM trades [NOW] AS t WHERE t.qty > 2"
    " GROUP BY t.symbol",
    "columns named otherwise": COUNTS.replace("AS n", "AS how_many"),
}
OTHER = {
    "another key": COUNTS.replace("GROUP BY symbol", "GROUP BY symbol, qty"),
    "another aggregate": COUNTS.replace("COUNT(*)", "SUM(qty)"),
    "HAVING": f"{COUNTS} HAVING COUNT(*) > 3",
    "another stream": "SELECT symbol, COUNT(*) AS n FROM quotes [NOW] GROUP BY symbol",
}


@pytest.mark.parametrize("kind", SAME)
def test_these_share_a_grouping(kind: str) -> None:
    assert _key(SAME[kind]) == _key(COUNTS)


@pytest.mark.parametrize("kind", OTHER)
def test_these_do_not(kind: str) -> None:
    assert _key(OTHER[kind]) != _key(COUNTS)


def _key(sql: str) -> object:
    found = decompose_grouped(optimize(bound_plan(sql)))
    assert found is not None
    signature, part = found
    return signature, part.outputs, part.above
