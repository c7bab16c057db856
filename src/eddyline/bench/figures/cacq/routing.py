"""Routing policies against the best and the worst order: filters that a tuple enters."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any, Final

import numpy as np

from eddyline.bench.figures.cacq.workloads import (
    FIELDS,
    ROUTING,
    Where,
    bank_of,
    random_queries,
    tuples,
    wanted_by,
)
from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.plots import draw_bars
from eddyline.bench.figures.verdicts import Judgment
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.policies import Piece, Policy, Routable, make_policy

PAPER: Final = "five nested queries"
RANDOM: Final = "random queries"
BEST: Final = "best order"
WORST: Final = "worst order"
_LEARNED: Final = ("ticket", "back-pressure", "random")

_ROWS: Final = 4_096
_SAMPLE_ROWS: Final = 4_096
_RANDOM_QUERIES: Final = 20


@dataclass(frozen=True)
class RoutingPoint:
    """One policy over one workload, after a while.

    Attributes:
        visits: filters that the average tuple enters.
        tuples_per_s: through the filters.
    """

    workload: str
    policy: str
    visits: float
    tuples_per_s: float


class StaticOrder(Policy):
    """Filters in the order of some names."""

    def __init__(self, names: Sequence[str]) -> None:
        self._place = {name: i for i, name in enumerate(names)}

    def routes(self, ready: Sequence[Routable], rows: int) -> list[Piece]:
        return [(rows, tuple(sorted(ready, key=lambda o: self._place[o.name])))]


def measure(quick: bool) -> list[RoutingPoint]:
    """Every policy, over the paper's workload and random queries."""
    workloads = {
        PAPER: ROUTING,
        RANDOM: random_queries(_RANDOM_QUERIES, np.random.default_rng(8)),
    }
    warm_up, batches = (20, 30) if quick else (50, 200)
    return [
        point
        for name, queries in workloads.items()
        for point in _measured(name, queries, warm_up, batches)
    ]


def _contenders(queries: Sequence[Where]) -> dict[str, Policy]:
    sample = tuples(_SAMPLE_ROWS, np.random.default_rng(9))
    orders = sorted(permutations(FIELDS), key=lambda o: _visits(queries, StaticOrder(o), sample))
    return {
        BEST: StaticOrder(orders[0]),
        **{name: make_policy(name, 0) for name in _LEARNED},
        WORST: StaticOrder(orders[-1]),
    }


def _visits(queries: Sequence[Where], policy: Policy, batch: Batch) -> int:
    bank = bank_of(queries, policy)
    for _ in bank.blocks(batch, wanted_by(len(queries))):
        pass
    return bank.visits


def _measured(
    workload: str, queries: Sequence[Where], warm_up: int, batches: int
) -> list[RoutingPoint]:
    """All policies over the same tuples, in turns; seconds are those of the processor."""
    banks = {label: bank_of(queries, p) for label, p in _contenders(queries).items()}
    wanted, rng = wanted_by(len(queries)), np.random.default_rng(10)
    before = dict.fromkeys(banks, 0)
    seconds = dict.fromkeys(banks, 0.0)
    for number in range(warm_up + batches):
        if number == warm_up:
            before = {label: bank.visits for label, bank in banks.items()}
            seconds = dict.fromkeys(banks, 0.0)
        batch = tuples(_ROWS, rng)
        for label in rng.permutation(list(banks)).tolist():
            begin = time.thread_time()
            for _ in banks[label].blocks(batch, wanted):
                pass
            seconds[label] += time.thread_time() - begin
    rows = batches * _ROWS
    return [
        RoutingPoint(workload, label, (bank.visits - before[label]) / rows, rows / seconds[label])
        for label, bank in banks.items()
    ]


def draw(points: Sequence[RoutingPoint], out: Path) -> None:
    """``routing.png``."""
    workloads = list(dict.fromkeys(p.workload for p in points))
    draw_bars(
        out / "routing.png",
        "Filters that the average tuple enters, by routing policy",
        "after a while; five filters",
        {w: {p.policy: p.visits for p in points if p.workload == w} for w in workloads},
        "filters entered per tuple",
    )


def table(points: Sequence[RoutingPoint]) -> list[Mapping[str, Any]]:
    """A row per point."""
    return [
        {
            "workload": p.workload,
            "policy": p.policy,
            "filters per tuple": f"{p.visits:.3f}",
            "M tuples/s": f"{p.tuples_per_s / 1e6:.2f}",
        }
        for p in points
    ]


def visits(points: Sequence[RoutingPoint], workload: str) -> dict[str, float]:
    """Filters per tuple by policy."""
    return {p.policy: p.visits for p in points if p.workload == workload}


def _near_the_best(points: Sequence[RoutingPoint]) -> Judgment:
    ratios = {w: (v := visits(points, w))["ticket"] / v[BEST] for w in (PAPER, RANDOM)}
    text = "; ".join(f"{ratio:.3f}x the best order's, {w}" for w, ratio in ratios.items())
    return Judgment(text, "yes" if max(ratios.values()) <= 1.10 else "no")


def _fast(points: Sequence[RoutingPoint]) -> Judgment:
    speeds = {(p.workload, p.policy): p.tuples_per_s for p in points}
    slower = {w: speeds[w, BEST] / speeds[w, "ticket"] for w in (PAPER, RANDOM)}
    gain = speeds[PAPER, "ticket"] / speeds[PAPER, "random"]
    text = "; ".join(f"{ratio:.2f}x the best order's, {w}" for w, ratio in slower.items())
    holds = max(slower.values()) <= 1.25 and gain >= 1.0
    return Judgment(f"{text}; random takes {gain:.2f}x as long", "yes" if holds else "no")


def _fewer_than_random(points: Sequence[RoutingPoint]) -> Judgment:
    v = visits(points, PAPER)
    text = f"{v['ticket']:.2f} filters per tuple, random {v['random']:.2f}, worst {v[WORST]:.2f}"
    return Judgment(text, "yes" if v["ticket"] < v["random"] < v[WORST] else "no")


def _alike(points: Sequence[RoutingPoint]) -> Judgment:
    v = visits(points, RANDOM)
    text = f"ticket {v['ticket']:.2f}, random {v['random']:.2f} filters per tuple"
    return Judgment(text, "yes" if v["random"] <= 1.10 * v["ticket"] else "no")


EXPERIMENT: Final = Experiment(
    "routing",
    "Routing policies (section 4)",
    measure,
    draw,
    table,
    (
        Claim(
            "section 4",
            "the ticket scheme sends the average tuple to fewer filters than the random scheme",
            "ticket < random < worst order",
            _fewer_than_random,
        ),
        Claim(
            "section 4",
            "over random queries, both schemes do alike",
            "random at most 1.1x ticket's filters",
            _alike,
        ),
        Claim(
            "this project",
            "the ticket scheme is within 10 % of the best static order",
            "at most 1.1x its filters",
            _near_the_best,
        ),
        Claim(
            "this project",
            "in time, the ticket scheme is within 25 % of the best static order, and not slower "
            "than random",
            "at most 1.25x its time; random at least 1x",
            _fast,
        ),
    ),
)
