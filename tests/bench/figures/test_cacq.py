"""CACQ's experiments: tiny runs of all, and claims judged by canned points."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from eddyline.bench.figures import papers
from eddyline.bench.figures.cacq import (
    adaptivity,
    banks,
    engines,
    joins,
    niagara,
    routing,
    run,
    tuple_state,
)
from eddyline.bench.figures.cacq.adaptivity import Course
from eddyline.bench.figures.cacq.routing import BEST, PAPER, RANDOM, WORST, RoutingPoint
from eddyline.bench.figures.cacq.tuple_state import StatePoint
from eddyline.bench.figures.cacq.workloads import (
    ADAPTIVITY,
    FIELDS,
    ROUTING,
    bank_of,
    nested,
    random_queries,
    single_predicates,
    tuples,
    wanted_by,
)
from eddyline.bench.figures.experiment import Claim, Experiment, Speed, take_turns
from eddyline.cli.main import app
from eddyline.kernels.lineage import expand
from eddyline.runtime.eddy.policies import FixedPolicy


def test_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(papers, "apart", lambda case: case())
    for module in (tuple_state, banks, engines, routing, adaptivity, joins):
        monkeypatch.setattr(module, "_ROWS", 300)
    for module in (banks, engines):
        monkeypatch.setattr(module, "OVER_SOURCES", 8)
        monkeypatch.setattr(module, "_QUICK_COUNTS", (1, 5))
    monkeypatch.setattr(joins, "_QUICK_COUNTS", (1, 5))
    tiny = [replace(u, queries=min(u.queries, 3), stocks=20) for u in niagara.QUICK]
    monkeypatch.setattr(niagara, "QUICK", tuple(dict.fromkeys(tiny)))
    arguments = ["bench", "figures", "cacq", "--quick", "--json", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report == json.loads((tmp_path / "figures.json").read_text())
    assert report["claims"] == json.loads((tmp_path / "claims.json").read_text())
    assert {claim["holds"] for claim in report["claims"]} <= {"yes", "in part", "no"}
    assert all(report["points"][experiment.name] for experiment in run.PAPER.experiments)
    names = {"figure-04.png", "queries.png", "sources.png", "routing.png", "joins.png"}
    names |= {"engine-queries.png", "engine-sources.png"}
    names |= {f"niagara-{by}.png" for by in ("queries", "articles", "wanted", "functions")}
    names |= {f"adaptivity-{n}.png" for n in (1, 2, 3)}
    assert {f.name for f in tmp_path.glob("*.png")} == names
    text = (tmp_path / "claims.md").read_text()
    assert "| five nested queries | ticket |" in text
    assert "| functions | 3 | 20 | 8 |" in text


# -- workloads ---------------------------------------------------------


def test_nested_queries_add_a_field_each() -> None:
    queries = nested([10, 20, 30, 40, 50])
    assert ["".join(query) for query in queries] == ["a", "ab", "abc", "abcd", "abcde"]
    assert 20 not in queries[4]["b"]
    assert 21 in queries[4]["b"]


@pytest.mark.parametrize("queries", [ROUTING, *ADAPTIVITY.values()])
def test_fixed_workloads_have_five_queries_on_five_fields(
    queries: list[Mapping[str, object]],
) -> None:
    assert len(queries) == 5
    assert {field for query in queries for field in query} == set(FIELDS)


def test_random_queries() -> None:
    rng = np.random.default_rng(0)
    fields = [len(query) for query in random_queries(200, rng)]
    assert min(fields) == 1
    assert 2.0 < np.mean(fields) < 3.0
    assert all(len(query) == 1 for query in single_predicates(20, rng))


def test_banks_apply_the_queries() -> None:
    rng = np.random.default_rng(1)
    queries, batch = random_queries(70, rng), tuples(50, rng)
    rows = list(zip(*(c.to_pylist() for c in batch.columns()), strict=True))
    expected = {
        (number, bit)
        for number, row in enumerate(rows)
        for bit, query in enumerate(queries)
        if all(row[FIELDS.index(field)] in accepts for field, accepts in query.items())
    }
    found = set()
    for numbers, lineage in bank_of(queries, FixedPolicy()).blocks(batch, wanted_by(70)):
        row, bit = expand(lineage, numbers)
        found |= set(zip(row.tolist(), bit.tolist(), strict=True))
    assert found == expected


def test_wanted_by() -> None:
    assert wanted_by(3, words=2).tolist() == [7, 0]
    assert wanted_by(65).tolist() == [2**64 - 1, 1]


def test_static_order() -> None:
    bank = bank_of(ROUTING, FixedPolicy())
    ((rows, order),) = routing.StaticOrder("edcba").routes(bank.filters, 10)
    assert (rows, [f.name for f in order]) == (10, list("edcba"))


# -- turns -------------------------------------------------------------


def test_contenders_take_turns() -> None:
    turns: list[str] = []

    def work(name: str) -> int:
        turns.append(name)
        return len(name)

    speeds = take_turns({name: partial(work, name) for name in ("x", "yy")}, 10, rounds=3)
    assert sorted(turns) == ["x"] * 4 + ["yy"] * 4
    assert {name: speed.results for name, speed in speeds.items()} == {"x": 1, "yy": 2}
    assert all(len(speed.seconds) == 3 for speed in speeds.values())


def test_contenders_must_repeat_their_results() -> None:
    results = iter([1, 1, 2])
    with pytest.raises(AssertionError, match="x: 2, 1 rows"):
        take_turns({"x": lambda: next(results)}, 10, rounds=2)


def test_speed() -> None:
    speed = Speed(rows=4_000_000, results=2_000_000, seconds=(1.0, 4.0, 2.0))
    assert (speed.rows_per_s, speed.results_per_s) == (2e6, 1e6)
    assert speed.spot(7, speed.rows) == (7, 2.0, 1.0, 4.0)


# -- claims ------------------------------------------------------------


def judge(experiment: Experiment, text: str, points: Sequence[Any]) -> str:
    (claim,) = (c for c in experiment.claims if text in c.text)
    assert isinstance(claim, Claim)
    return claim.judge(points).holds


@pytest.mark.parametrize(
    ("rates", "holds"), [((9, 5, 4), "yes"), ((9, 8, 1), "in part"), ((9, 9.5, 10), "no")]
)
def test_less_per_bit(rates: tuple[float, ...], holds: str) -> None:
    points = [
        StatePoint(bits, Speed(1_000, 1, (1 / rate,)))
        for bits, rate in zip((64, 128, 256), rates, strict=True)
    ]
    assert judge(tuple_state.EXPERIMENT, "by less per bit", points) == holds


def routed(ticket: float, random: float, worst: float) -> list[Any]:
    of = {BEST: 1.0, "ticket": ticket, "random": random, WORST: worst}
    return [RoutingPoint(w, p, v, 1.0) for w in (PAPER, RANDOM) for p, v in of.items()]


def test_claims_about_routing() -> None:
    near, far = routed(1.05, 1.1, 5.0), routed(1.2, 1.1, 5.0)
    assert judge(routing.EXPERIMENT, "within 10 %", near) == "yes"
    assert judge(routing.EXPERIMENT, "within 10 %", far) == "no"
    assert judge(routing.EXPERIMENT, "fewer filters", near) == "yes"
    assert judge(routing.EXPERIMENT, "fewer filters", far) == "no"
    assert judge(routing.EXPERIMENT, "alike", near) == "yes"
    assert judge(routing.EXPERIMENT, "alike", routed(1.0, 1.3, 5.0)) == "no"


def course(workload: str, final: str, late: int = 0) -> Course:
    """Two queries, 40 batches each; shares as digits of tenths; the second is ``late``."""
    end = {field: int(digit) / 10 for field, digit in zip(FIELDS, final, strict=True)}
    shares = [{"a": 1.0}] * (40 + late) + [end] * (40 - late)
    return Course(workload, (0, 40), tuple(shares))


def test_claims_about_adaptivity() -> None:
    independent, equal, different = ADAPTIVITY
    good = [course(independent, "01234"), course(equal, "43210"), course(different, "54321")]
    for claim in adaptivity.EXPERIMENT.claims:
        assert claim.judge(good).holds == "yes", claim.text
    bad = [
        course(independent, "10234"),
        course(equal, "01234"),
        course(different, "43210", late=25),
    ]
    verdicts = [claim.judge(bad).holds for claim in adaptivity.EXPERIMENT.claims]
    assert verdicts == ["no", "in part", "no", "yes", "no"]


@pytest.mark.parametrize("late", [0, 1, 25])
def test_settling(late: int) -> None:
    assert course("w", "43210", late).settled_after() == late
