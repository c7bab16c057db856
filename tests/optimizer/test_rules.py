"""Each rule alone, and all in order: golden/<rule>.sql (golden.py says how to rewrite them).

A golden shows the plan as bound and, below an arrow, as the rule leaves it; "(unchanged)" where
the rule must not fire. Rules that choose by cost among plans without products start from what the
rules before them leave; a comment such as
``-- known: trades 10/s, quotes.symbol 50 values, companies 9 rows`` gives statistics.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eddyline.algebra.explain import explain
from eddyline.optimizer.optimizer import COST_RULES, INFORMED_RULES, RULES, AnyRule, optimize
from eddyline.optimizer.statistics import Statistics
from golden import SEPARATOR, bound_plan, check_golden

GOLDEN = Path(__file__).parent / "golden"


def before_and_after(sql: str, rule: AnyRule) -> str:
    plan = bound_plan(sql)
    if rule in COST_RULES:
        plan = optimize(plan, RULES[: RULES.index(rule)], known(sql))
        after = rule(plan, known(sql))
        assert rule(after, known(sql)) == after, "the rule changes what it made itself"
    elif rule in INFORMED_RULES:
        after = rule(plan, known(sql))
    elif rule is optimize:
        after = optimize(plan, statistics=known(sql))
    else:
        after = rule(plan)
    return f"{explain(plan)}\n==>\n{'(unchanged)' if after == plan else explain(after)}"


def known(sql: str) -> Statistics:
    """The statistics that the comments of a case give."""
    comments = " ".join(re.findall(r"^-- known: (.*)$", sql, re.MULTILINE))
    numbers = re.findall(r"([\w.]+) (\S+?)(/s| values| rows)", comments)
    given: dict[str, dict[str, float]] = {"/s": {}, " values": {}, " rows": {}}
    for name, number, unit in numbers:
        given[unit][name] = float(number)
    values = {(n.split(".")[0], n.split(".")[1]): v for n, v in given[" values"].items()}
    return Statistics(given["/s"], given[" rows"], values)


@pytest.mark.parametrize("rule", [*RULES, optimize], ids=lambda rule: rule.__name__)
def test_rule(rule: AnyRule) -> None:
    path = GOLDEN / f"{rule.__name__}.sql"
    check_golden(path, lambda sql: before_and_after(sql, rule))


def test_every_golden_has_its_rule() -> None:
    assert {p.stem for p in GOLDEN.iterdir()} == {r.__name__ for r in RULES} | {"optimize"}


@pytest.mark.parametrize("path", sorted(GOLDEN.iterdir()), ids=lambda p: p.stem)
def test_optimization_is_idempotent(path: Path) -> None:
    for case in path.read_text().split(f"\n{SEPARATOR}\n"):
        sql = case.partition("\n=>\n")[0].strip()
        if sql:
            plan = optimize(bound_plan(sql), statistics=known(sql))
            assert optimize(plan, statistics=known(sql)) == plan, sql
