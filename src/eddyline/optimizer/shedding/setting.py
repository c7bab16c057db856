"""Plans with their drop boxes set, and what is expected of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.posynomial import Posynomial
from eddyline.optimizer.joins.query import members
from eddyline.optimizer.joins.trees import Tree, show
from eddyline.optimizer.shedding.geometric import Sum
from eddyline.optimizer.shedding.program import Program

#: A keep rate from which on text says that nothing is dropped.
_ALL: Final = 0.9995


@dataclass(frozen=True)
class Setting:
    """A plan, and which share of each source's rows it is given.

    Attributes:
        keep: by source, from 0 to 1.
        capacity: the seconds per second that there are: cores, or less than one.
    """

    plan: PlanFunctions
    keep: tuple[float, ...]
    capacity: float = 1.0

    @property
    def output(self) -> float:
        """Results per second that are expected."""
        return self.plan.output.at(self.keep)

    @property
    def full(self) -> float:
        """Results per second if nothing were dropped."""
        return self.plan.output.at(self._everything)

    @property
    def share(self) -> float:
        """Of all results, those that are expected."""
        return self.output / self.full if self.full else 1.0

    @property
    def needed(self) -> float:
        """The cores that the plan needs if nothing is dropped."""
        return self.plan.cost.at(self._everything)

    @property
    def utilisation(self) -> float:
        """The cores that the plan needs as it is set."""
        return self.plan.cost.at(self.keep)

    @property
    def objective(self) -> float:
        """Results per second of work (Eq. 21)."""
        return self.output / self.utilisation if self.utilisation else float("inf")

    def by_operator(self) -> dict[Tree, float]:
        """The utilisation of every source and join."""
        return {o.tree: o.cost.at(self.keep) for o in self.plan.operators}

    def text(self) -> str:
        """For people: what the plan needs, what is dropped and what that leaves."""
        cores = f"needs {self.needed:.2f} of {self.capacity:g} cores"
        if min(self.keep) >= _ALL:
            return f"{cores}: nothing is dropped"
        names = [source.name for source in self.plan.query.sources]
        kept = dict(zip(names, self.keep, strict=True))
        dropped = ", ".join(f"{1 - x:.1%} of {name}" for name, x in kept.items() if x < _ALL)
        left = f"with {dropped} dropped, output {self.share:.2g} of full"
        if self.utilisation > self.capacity * (1 + 1e-6):
            return f"{cores}, and {self.utilisation:.2f} even {left}"
        return f"{cores}; feasible {left}"

    def show(self) -> str:
        """The tree."""
        return show(self.plan.tree, [source.name for source in self.plan.query.sources])

    @property
    def _everything(self) -> list[float]:
        return [1.0] * len(self.plan.query.sources)


def shed(
    plan: PlanFunctions, capacity: float = 1.0, floor: float = 0.0, *, thorough: bool = True
) -> Setting:
    """The plan, shedding load so that its output is as large as the capacity allows.

    Args:
        floor: the least share to keep of every source. A window of rows from which nothing is kept
            never fills, or stays as it is; the model, which knows the steady state only, takes it
            for full.
        thorough: whether to look long for the best setting where windows are mixed.
    """
    return shed_together([plan], capacity, floor, thorough=thorough)[0]


def shed_together(
    plans: Sequence[PlanFunctions],
    capacity: float = 1.0,
    floor: float = 0.0,
    *,
    thorough: bool = True,
) -> list[Setting]:
    """Plans that share streams, all of them shedding load at the sources.

    Sources of one name are one stream, with one drop box, also within a plan. The product of all
    outputs is made as large as the summed costs allow.
    """
    sources = (source for plan in plans for source in plan.query.sources)
    boxes = {name: box for box, name in enumerate(dict.fromkeys(s.name for s in sources))}
    cost = sum((_over_boxes(plan, plan.cost, boxes) for plan in plans), _Terms())
    outputs = [_over_boxes(plan, plan.output, boxes) for plan in plans]
    program = Program(
        tuple(o.as_sum(len(boxes)) for o in outputs if o) or (_all_alike(len(boxes)),),
        cost.as_sum(len(boxes), scale=1 / capacity),
        np.full(len(boxes), floor, np.float64),
    )
    best = program.best(thorough=thorough)
    return [
        Setting(plan, tuple(float(best[boxes[s.name]]) for s in plan.query.sources), capacity)
        for plan in plans
    ]


class _Terms(dict[tuple[int, ...], float]):
    """A posynomial over drop boxes: by the boxes that are multiplied, ascending, the factor."""

    def __add__(self, other: Mapping[tuple[int, ...], float]) -> _Terms:
        found = _Terms(self)
        for boxes, factor in other.items():
            found[boxes] = found.get(boxes, 0.0) + factor
        return found

    def as_sum(self, boxes: int, scale: float = 1.0) -> Sum:
        exponents = np.zeros((len(self), boxes))
        for row, multiplied in enumerate(self):
            np.add.at(exponents[row], list(multiplied), 1.0)
        return Sum(np.fromiter(self.values(), float, len(self)) * scale, exponents)


def _over_boxes(plan: PlanFunctions, of: Posynomial, boxes: Mapping[str, int]) -> _Terms:
    """A function of the keep rates of a plan's sources, as one of the drop boxes' settings."""
    sources, found = plan.query.sources, _Terms()
    for mask, factor in of.terms.items():
        multiplied = tuple(sorted(boxes[sources[i].name] for i in members(mask)))
        found[multiplied] = found.get(multiplied, 0.0) + factor
    return found


def _all_alike(boxes: int) -> Sum:
    """What to maximise where there are no results: that all sources are kept."""
    return Sum(np.ones(1), np.ones((1, boxes)))
