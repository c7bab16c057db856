"""What an experiment is made of."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from eddyline.bench.figures.plots import Spot
from eddyline.bench.figures.verdicts import Judgment, Regime

P = TypeVar("P")
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Claim(Generic[P]):
    """A claim, its place in the paper, and its judge.

    Attributes:
        asked: when it holds, with the tolerance; stated before anything is measured.
        regime: outside of which the claim does not hold whatever was measured.
    """

    source: str
    text: str
    asked: str
    judge: Callable[[Sequence[P]], Judgment]
    regime: Regime[Sequence[P]] | None = None

    def judged(self, points: Sequence[P]) -> dict[str, str]:
        """The claim with its verdict, for machines."""
        checked = self.regime.checked if self.regime else lambda points, judge: judge(points)
        return {"source": self.source, "claim": self.text, "asked": self.asked} | asdict(
            checked(points, self.judge)
        )


@dataclass(frozen=True)
class Experiment(Generic[P]):
    """An experiment of the paper.

    Attributes:
        name: of its points in ``figures.json``.
        measure: measures its points, or few of them if it has to be quick; a function of a module,
            since it is called in a process of its own.
        draw: writes its figures into a directory.
        table: its points for people.
    """

    name: str
    title: str
    measure: Callable[[bool], list[P]]
    draw: Callable[[Sequence[P], Path], None]
    table: Callable[[Sequence[P]], list[Mapping[str, Any]]]
    claims: tuple[Claim[P], ...]


@dataclass(frozen=True)
class Speed:
    """Rounds of one contender.

    Attributes:
        rows, results: input and output tuples of each round.
        seconds: of each round.
    """

    rows: int
    results: int
    seconds: tuple[float, ...]

    @property
    def rows_per_s(self) -> float:
        """Of the median round."""
        return self.rows / statistics.median(self.seconds)

    @property
    def results_per_s(self) -> float:
        """Of the median round."""
        return self.results / statistics.median(self.seconds)

    def spot(self, x: float, amount: int) -> Spot:
        """On a line: millions of ``amount`` per second, from the slowest to the fastest round."""
        rates = sorted(amount / s / 1e6 for s in self.seconds)
        return Spot(x, statistics.median(rates), rates[0], rates[-1])

    @property
    def ms(self) -> float:
        """Milliseconds of the median round."""
        return 1e3 * statistics.median(self.seconds)

    def time_spot(self, x: float) -> Spot:
        """On a line: milliseconds of a round, from the fastest to the slowest."""
        return Spot(x, self.ms, 1e3 * min(self.seconds), 1e3 * max(self.seconds))


def take_turns(work: Mapping[K, Callable[[], int]], rows: int, rounds: int) -> dict[K, Speed]:
    """Time contenders, who take turns in a shuffled order after a first turn that does not count.

    Args:
        work: by contender, what it does with ``rows`` tuples; returns how many results it has.

    Raises:
        AssertionError: a contender's number of results differs between turns.
    """
    seconds: dict[K, list[float]] = {contender: [] for contender in work}
    results = {contender: run() for contender, run in work.items()}
    shuffle = random.Random(rounds)
    for _ in range(rounds):
        for contender in shuffle.sample(list(work), len(work)):
            begin = time.perf_counter()
            found = work[contender]()
            seconds[contender].append(time.perf_counter() - begin)
            assert found == results[contender], f"{contender}: {found}, {results[contender]} rows"
    return {c: Speed(rows, results[c], tuple(s)) for c, s in seconds.items()}
