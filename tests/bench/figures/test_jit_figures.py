"""Experiments of the just-in-time joins: a tiny run of all, the plans, the data and the judges."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from eddyline.bench.figures import papers
from eddyline.bench.figures.jit import (
    busy,
    cliques,
    dense,
    fan_out,
    in_flows,
    judges,
    no_help,
    run,
    sweeps,
)
from eddyline.bench.figures.jit.cliques import (
    METHODS,
    NESTED_LOOPS,
    CliqueEffort,
    CliqueSetting,
    Hot,
    clique_feed,
)
from eddyline.bench.figures.jit.in_turns import TurnSize
from eddyline.bench.figures.jit.plans import PLANS, PlanName, clique_join, flat_join, script
from eddyline.bench.figures.jit.runs import (
    CONTENDERS,
    DOE,
    JIT,
    REACTIVE,
    REF,
    JitPoint,
    JitRun,
    checksum,
    require_equal_answers,
)
from eddyline.cli.main import app
from eddyline.testing import engine_with

TINY = CliqueSetting("bushy", sources=4, window_s=40, rate=1.0, dmax=4, special_factor=1, call_s=10)
SIZE = TurnSize(window_rows=400, stretch_calls=4, rounds=2, call_rows=100)
HOUR = 1 / 60


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command runs tiny experiments, in this process."""
    monkeypatch.setattr(papers, "apart", lambda case: case())
    monkeypatch.setattr(sweeps, "_QUICK", CliqueEffort(1 / 30, 1, 0.0, all_values=False))
    monkeypatch.setattr(cliques, "rehearse", lambda setting, method: [])
    monkeypatch.setattr(dense, "_QUICK", CliqueEffort(1 / 30, 1, 0.0, all_values=False))
    monkeypatch.setattr(fan_out, "_QUICK", SIZE)
    monkeypatch.setattr(no_help, "_QUICK", SIZE)
    monkeypatch.setattr(in_flows, "_sizes", lambda quick: (SIZE, SIZE))
    monkeypatch.setattr(busy, "_sizes", lambda quick: (SIZE, SIZE))


@pytest.mark.long
def test_command(tiny: None, tmp_path: Path) -> None:
    arguments = ["bench", "figures", "jit", "--quick", "--json", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report == json.loads((tmp_path / "figures.json").read_text())
    assert report["claims"] == json.loads((tmp_path / "claims.json").read_text())
    assert {claim["holds"] for claim in report["claims"]} <= {"yes", "in part", "no"}
    assert all(report["points"][experiment.name] for experiment in run.PAPER.experiments)
    names = {f"figure-{n}.png" for n in range(10, 18)}
    names |= {"dense.png", "busy.png", "fan-out.png", "no-help.png", "flows.png"}
    assert {f.name for f in tmp_path.glob("*.png")} == names
    assert "## Figure 12: bushy plans, by sources N" in (tmp_path / "claims.md").read_text()


# -- plans and data ----------------------------------------------------


@pytest.mark.parametrize(("plan", "sources"), [(p, n) for p, trees in PLANS.items() for n in trees])
def test_plans_run_as_written(plan: PlanName, sources: int) -> None:
    engine = engine_with(executor="tree")
    engine.sql(script(sources))
    query = engine.query(clique_join(PLANS[plan][sources], 60), name="q")
    joins = [line for line in query.explain().splitlines() if line.strip().startswith("Join")]
    assert len(joins) == sources - 1
    assert sum(line.count(" = ") for line in joins) == sources * (sources - 1) // 2
    top_level = joins[0].count(" = ")
    left = PLANS[plan][sources]
    assert isinstance(left, tuple)
    sizes = [str(side).count(",") + 1 for side in left]
    assert top_level == sizes[0] * sizes[1]


def test_left_deep_plans_have_a_source_on_each_right_side() -> None:
    assert PLANS["left-deep"][4] == (((0, 1), 2), 3)
    assert set(PLANS["bushy"]) == {4, 5, 6, 7, 8}


@pytest.mark.parametrize(("sources", "special"), [(3, 2), (6, 3)])
def test_one_source_may_have_more_values(sources: int, special: int) -> None:
    feed = clique_feed(replace(TINY, sources=sources, special_factor=100), hours=0.2)
    largest = {
        name: max(int(np.max(c.to_numpy())) for b in feed for c in b[name].columns[1:])
        for name in feed[0]
    }
    assert [name for name, most in largest.items() if most > 4] == ["abcdef"[special]]
    assert largest["abcdef"[special]] > 350


def test_feed_has_all_rows_in_order_and_is_the_same_again() -> None:
    feed, again = (clique_feed(TINY, HOUR) for _ in range(2))
    assert len(feed) == 6  # a minute of calls of 10 s
    for name in "abcd":
        ts = np.concatenate([batch[name]["ts"].to_numpy() for batch in feed])
        assert ts.size == 60 and (np.diff(ts) >= 0).all() and ts[-1] < 60_000_000
    assert all(b[n].equals(a[n]) for b, a in zip(feed, again, strict=True) for n in "abcd")


def test_clique_joins_are_right() -> None:
    setting = replace(TINY, dmax=2)
    feed = clique_feed(setting, HOUR)
    rows = {n: [r for b in feed for r in b[n].to_pylist()] for n in "abcd"}
    window_us = setting.window_s * 1_000_000

    def joined(combination: tuple[dict[str, Any], ...]) -> bool:
        ts = [row["ts"] for row in combination]
        if max(ts) - min(ts) >= window_us:
            return False
        named = dict(zip("abcd", combination, strict=True))
        pairs = ((s, t) for s in "abcd" for t in "abcd" if s < t)
        return all(named[s][f"x_{s}{t}"] == named[t][f"x_{s}{t}"] for s, t in pairs)

    few = {n: mine[:20] for n, mine in rows.items()}
    expected = sum(joined(c) for c in product(*few.values()))
    made = JitRun(
        script(4), clique_join(PLANS["bushy"][4], setting.window_s), JIT, nested_loops=True
    )
    made.play([{n: pa.Table.from_pylist(mine) for n, mine in few.items()}])
    assert made.answer()[0] == expected > 0


# -- runs --------------------------------------------------------------


def test_contenders_agree_and_jit_holds_least() -> None:
    points = cliques.measure_clique(TINY, 4, CliqueEffort(5 * HOUR, 2, 9.0, True))
    assert [(p.case, p.contender) for p in points] == [(m, c) for m in METHODS for c in CONTENDERS]
    assert len({p.results for p in points}) == 1 and points[0].results > 0
    assert all(len(p.cpu_s) == 2 and p.rows == 1_200 for p in points)
    held = {(p.case, p.contender): p.intermediate for p in points}
    assert all(0 < held[m, JIT] <= held[m, DOE] <= held[m, REF] for m in METHODS)
    assert all(held[m, JIT] <= held[m, REACTIVE] <= held[m, REF] for m in METHODS)
    assert all(p.nbytes > 8 * (p.intermediate + p.base) for p in points)
    assert len({p.base for p in points}) == 1


@pytest.mark.parametrize(
    ("plan", "sources"),
    [
        pytest.param("bushy", 6, marks=pytest.mark.long),
        pytest.param("bushy", 8, marks=pytest.mark.long),
        ("left-deep", 6),
    ],
)
def test_small_runs_have_results(plan: PlanName, sources: int) -> None:
    for method in METHODS:
        runs = cliques.rehearse(replace(TINY, plan=plan, sources=sources), method)
        assert all(made.answer()[0] > 0 for made in runs)


@pytest.mark.long
def test_hot_rows_have_results() -> None:
    setting = replace(TINY, dmax=1_000, hot=Hot(0.25, 1))
    points = cliques.measure_clique(setting, 4, CliqueEffort(5 * HOUR, 1, 9.0, True))
    assert points[0].results > 0
    assert len({p.results for p in points}) == 1
    cold = cliques.measure_clique(
        replace(setting, hot=Hot(0.0, 1)), 4, CliqueEffort(HOUR, 1, 0, True)
    )
    assert cold[0].results == 0


@pytest.mark.parametrize("sources", [3, 6])
def test_the_optimizer_orders_the_same_join(sources: int) -> None:
    """As one SELECT: the columns, their order and the conditions are those of the plans."""
    engine = engine_with(executor="tree")
    engine.sql(script(sources))
    plan = PLANS["left-deep"][sources]
    written = engine.query(clique_join(plan, 60), name="written")
    flat = engine.query(flat_join(sources, 60), name="flat")
    assert flat.plan.schema == written.plan.schema


def test_different_answers_fail_loudly() -> None:
    runs = [
        JitRun(script(3), clique_join(((0, 1), 2), 9), c, nested_loops=False) for c in (REF, JIT)
    ]
    row = {n: pa.table({"ts": [0], **{c: [1] for c in _columns(n)}}) for n in "abc"}
    runs[0].play([row])
    runs[1].play([row])
    require_equal_answers("one row each", runs)
    late = {n: t.set_column(0, "ts", pa.array([1])) for n, t in row.items()}
    runs[1].play([late])
    with pytest.raises(AssertionError, match="one more: answers differ"):
        require_equal_answers("one more", runs)


def _columns(name: str) -> list[str]:
    return [f"x_{min(name, o)}{max(name, o)}" for o in "abc" if o != name]


def test_checksum_is_of_bags() -> None:
    table = pa.table({"_op": ["+"] * 3, "x": [1, 2, 3], "y": [4, 5, 6]})
    assert checksum(table) == checksum(table.take([2, 0, 1]))
    swapped = table.set_column(2, "y", pa.array([5, 4, 6]))
    assert checksum(table) != checksum(swapped)
    assert checksum(table) != checksum(table.take([0, 1, 2, 2]))


def test_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    size = replace(SIZE, window_rows=1_000)  # ten values to join A and B on
    monkeypatch.setattr(in_flows, "_sizes", lambda quick: (size, SIZE))
    points = in_flows.measure(True)
    assert {p.case for p in points} == {in_flows.FAN_OUT, in_flows.NO_HELP}
    assert all(p.results > 0 for p in points)
    claims = [claim.judge(points) for claim in in_flows.EXPERIMENT.claims]
    assert all("x" in v.measured or "%" in v.measured for v in claims)


def test_fan_out_and_no_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fan_out, "_QUICK", SIZE)
    monkeypatch.setattr(no_help, "_QUICK", SIZE)
    ref, jit, reactive = fan_out.measure(True)
    assert jit.intermediate <= reactive.intermediate <= ref.intermediate
    assert ref.results == jit.results > 0
    assert ref.intermediate > 5 * jit.intermediate
    points = no_help.measure(True)
    assert [p.case for p in points] == ["3-way, left-deep"] * 3 + ["4-way, bushy"] * 3
    for p in points:  # each row has one partner: as many intermediate results as without feedback
        assert p.results > 0 and len(p.cpu_s) == SIZE.rounds
    assert len({p.intermediate for p in points[:3]}) == 1
    assert len({p.intermediate for p in points[3:]}) == 1


# -- claims ------------------------------------------------------------


def _points(values: dict[str, list[tuple[float, float, int]]], case: str) -> list[JitPoint]:
    return [
        JitPoint(case, x, contender, 1, 0, (cpu,), rows, 0)
        for contender, line in values.items()
        for x, cpu, rows in line
    ]


def _pair(ref: list[tuple[float, int]], jit: list[tuple[float, int]]) -> list[JitPoint]:
    at = range(4, 4 + len(ref))
    lines = {REF: ref, DOE: ref, JIT: jit}
    return _points(
        {c: [(x, *v) for x, v in zip(at, line, strict=True)] for c, line in lines.items()},
        NESTED_LOOPS,
    )


GROWING = _pair([(10.0, 100), (40.0, 300)], [(1.0, 50), (2.0, 60)])
HOPELESS = _pair([(10.0, 100), (40.0, 300)], [(12.0, 100), (80.0, 900)])
STEPS = _pair(
    [(1.0, n) for n in (100, 105, 150, 152, 200)], [(1.0, n) for n in (10, 20, 30, 40, 50)]
)


@pytest.mark.parametrize(
    ("judge", "points", "holds"),
    [
        (judges.less_cpu(10.0), GROWING, "yes"),
        (judges.less_cpu(15.0), GROWING, "in part"),
        (judges.less_cpu(15.0), HOPELESS, "no"),
        (judges.large_margins, GROWING, "yes"),
        (judges.large_margins, HOPELESS, "no"),
        (judges.saves_up_to(0.62), GROWING, "yes"),
        (judges.saves_up_to(0.9), GROWING, "in part"),
        (judges.saves_up_to(0.1), HOPELESS, "no"),
        (judges.gains_grow, GROWING, "yes"),
        (judges.gains_grow, HOPELESS, "no"),
        (judges.grows_slower, GROWING, "yes"),
        (judges.grows_slower, HOPELESS, "no"),
        (judges.steps, STEPS, "yes"),
        (judges.no_steps, STEPS, "yes"),
        (judges.steps, GROWING, "no"),
        (judges.falls, GROWING[::-1], "no"),
        (judges.stable_from(5), GROWING, "yes"),
        (judges.stable_from(4), HOPELESS, "no"),
        (judges.clear, GROWING, "yes"),
        (judges.clear, HOPELESS, "no"),
        (judges.handles_below(5), GROWING, "in part"),
        (judges.doe_is_subsumed, GROWING, "yes"),
        (judges.doe_is_subsumed, HOPELESS, "in part"),
    ],
)
def test_judges(judge: judges.Judge, points: list[JitPoint], holds: str) -> None:
    verdict = judge(points)
    assert verdict.holds == holds, verdict.measured


def test_another_contender_in_the_place_of_jit() -> None:
    points = [*GROWING, *(replace(p, contender=REACTIVE, cpu_s=(8.0,)) for p in GROWING[-2:])]
    verdict = judges.of(REACTIVE, judges.less_cpu(10.0))(points)
    assert verdict.holds == "no"
    assert verdict.measured.startswith(f"CPU of REF over {REACTIVE}: 1.2x at 4, 5.0x at 5")
    assert judges.of(JIT, judges.less_cpu(10.0))(points).holds == "yes"


def test_hash_joins_are_judged_apart() -> None:
    as_hash = [replace(p, case="hash") for p in GROWING]
    assert judges.hash_joins_gain([*HOPELESS, *as_hash]).holds == "yes"
    assert judges.ratios(as_hash, judges.cpu, "hash") == {4: 10.0, 5: 20.0}


def test_overhead_is_of_pairs_of_turns() -> None:
    point = JitPoint("c", 3, REF, 1, 0, (1.0, 2.0, 4.0), 0, 0)
    jit = replace(point, contender=JIT, cpu_s=(1.1, 2.0, 8.0))
    assert no_help.overheads([point, jit], JIT)["c"] == pytest.approx(0.1)
