"""Each rule alone, and all in order: golden/<rule>.sql (golden.py says how to rewrite them).

A golden shows the plan as bound and, below an arrow, as the rule leaves it; "(unchanged)" where
the rule must not fire.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from eddyline.algebra.explain import explain
from eddyline.optimizer.optimizer import RULES, optimize
from eddyline.optimizer.traversal import Rule
from golden import bound_plan, check_golden

GOLDEN = Path(__file__).parent / "golden"


def before_and_after(sql: str, rule: Rule) -> str:
    before = explain(bound_plan(sql))
    after = explain(rule(bound_plan(sql)))
    return f"{before}\n==>\n{'(unchanged)' if after == before else after}"


@pytest.mark.parametrize("rule", [*RULES, optimize], ids=lambda rule: rule.__name__)
def test_rule(rule: Rule) -> None:
    path = GOLDEN / f"{rule.__name__}.sql"
    check_golden(path, lambda sql: before_and_after(sql, rule))


def test_every_golden_has_its_rule() -> None:
    assert {p.stem for p in GOLDEN.iterdir()} == {r.__name__ for r in RULES} | {"optimize"}
