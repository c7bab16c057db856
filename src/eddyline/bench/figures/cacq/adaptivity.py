"""Shares of the tickets over time, while queries are added one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from eddyline.bench.figures.cacq.workloads import ADAPTIVITY, FIELDS, add, tuples, wanted_by
from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.plots import Spot, draw_course
from eddyline.bench.figures.verdicts import Judgment
from eddyline.runtime.eddy.policies import TicketPolicy
from eddyline.runtime.predicates.filter_bank import FilterBank

_ROWS: Final = 4_096
_INDEPENDENT, _EQUAL, _DIFFERENT = ADAPTIVITY
#: Batches in which a share must have reached what it comes to in the end, give or take _NEAR.
_SOON: Final = 20
_NEAR: Final = 0.05


@dataclass(frozen=True)
class Course:
    """One workload.

    Attributes:
        added: the batches before which queries were added.
        shares: by batch, the share of the tickets by filter.
    """

    workload: str
    added: tuple[int, ...]
    shares: tuple[Mapping[str, float], ...]

    def final(self) -> dict[str, float]:
        """Mean shares of the last batches."""
        return self.mean(len(self.shares) - _SOON // 2, len(self.shares))

    def mean(self, first: int, end: int) -> dict[str, float]:
        """Mean shares of some batches."""
        some = self.shares[first:end]
        return {f: sum(s.get(f, 0.0) for s in some) / len(some) for f in FIELDS}

    def settled_after(self) -> int:
        """The most batches that any share took to come and stay near its value before the next."""
        ends = (*self.added[1:], len(self.shares))
        return max(map(self._settled, self.added, ends))

    def _settled(self, begin: int, end: int) -> int:
        target = self.mean(end - _SOON // 2, end)
        off = [
            number
            for number in range(begin, end)
            if any(abs(self.shares[number].get(f, 0.0) - target[f]) > _NEAR for f in FIELDS)
        ]
        return off[-1] - begin + 1 if off else 0


def measure(quick: bool) -> list[Course]:
    """Every workload."""
    every = 40 if quick else 60
    return [_course(name, every) for name in ADAPTIVITY]


def _course(workload: str, every: int) -> Course:
    policy = TicketPolicy()
    bank, rng, shares = FilterBank(policy), np.random.default_rng(11), []
    queries = ADAPTIVITY[workload]
    for number in range(every * len(queries)):
        if number % every == 0:
            add(bank, number // every, queries[number // every])
        for _ in bank.blocks(tuples(_ROWS, rng), wanted_by(number // every + 1)):
            pass
        shares.append(dict(policy.tickets()))
    return Course(workload, tuple(range(0, len(shares), every)), tuple(shares))


def draw(points: Sequence[Course], out: Path) -> None:
    """``adaptivity-1.png`` to ``adaptivity-3.png``."""
    for number, course in enumerate(points, 1):
        lines = {
            field: [Spot(i, shares.get(field, 0.0)) for i, shares in enumerate(course.shares)]
            for field in FIELDS
        }
        draw_course(
            out / f"adaptivity-{number}.png",
            f"Workload {number}: {course.workload}",
            "share of the tickets by filter; dotted: a query is added",
            lines,
            course.added,
            (f"batches of {_ROWS:,} tuples", "share of the tickets"),
        )


def table(points: Sequence[Course]) -> list[Mapping[str, Any]]:
    """A row per workload: where the shares end."""
    return [
        {
            "workload": course.workload,
            **{field: f"{share:.0%}" for field, share in course.final().items()},
            "batches until settled": course.settled_after(),
        }
        for course in points
    ]


def _by_name(points: Sequence[Course], name: str) -> Course:
    return next(course for course in points if course.workload == name)


def _descending(points: Sequence[Course], name: str, fields: str) -> Judgment:
    final = _by_name(points, name).final()
    text = ", ".join(f"{field} {final[field]:.0%}" for field in fields)
    shares = [final[field] for field in fields]
    if all(more > less for more, less in pairwise(shares)):
        return Judgment(text, "yes")
    return Judgment(text, "in part" if shares[0] == max(shares) else "no")


def _soon(points: Sequence[Course]) -> Judgment:
    batches = {course.workload: course.settled_after() for course in points}
    text = "; ".join(f"{n} batches at most, {name}" for name, n in batches.items())
    return Judgment(text, "yes" if max(batches.values()) <= _SOON else "no")


def _more_for_more_selective(points: Sequence[Course]) -> Judgment:
    equal, different = (_by_name(points, name).final()["e"] for name in (_EQUAL, _DIFFERENT))
    text = (
        f"e, of one query: {equal:.1%} where all are alike, {different:.1%} where it is strictest"
    )
    return Judgment(text, "yes" if different > equal else "no")


EXPERIMENT: Final = Experiment(
    "adaptivity",
    "Adapting to changing workloads (section 4)",
    measure,
    draw,
    table,
    (
        Claim(
            "section 4",
            f"a filter's share is steady soon after queries are added (here: {_SOON} batches)",
            f"within {_SOON} batches, give or take {_NEAR:.0%}",
            _soon,
        ),
        Claim(
            "section 4",
            "independent queries: the more selective a filter, the more tickets",
            "every share larger than the next",
            lambda points: _descending(points, _INDEPENDENT, FIELDS[::-1]),
        ),
        Claim(
            "section 4",
            "equally selective filters: the more predicates, the more tickets",
            "every share larger than the next",
            lambda points: _descending(points, _EQUAL, FIELDS),
        ),
        Claim(
            "section 4",
            "a filter of more queries outweighs a more selective one of fewer",
            "every share larger than the next",
            lambda points: _descending(points, _DIFFERENT, FIELDS),
        ),
        Claim(
            "section 4",
            "a filter gets some more tickets where its predicates are more selective",
            "a larger share than among equally selective ones",
            _more_for_more_selective,
        ),
    ),
)
