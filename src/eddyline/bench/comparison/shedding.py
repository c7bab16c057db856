"""One plan with its drop boxes set: the settings of sections 4 and 5.

The product sets the boxes of all queries together, by its own cost model
(:mod:`eddyline.optimizer.overload`).

Source: Ayad and Naughton, SIGMOD 2004.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.posynomial import Posynomial
from eddyline.optimizer.joins.query import members
from eddyline.optimizer.joins.trees import show
from eddyline.optimizer.shedding.geometric import Sum
from eddyline.optimizer.shedding.program import Program

#: Keep rates from here on are shown as nothing dropped.
_ALL: Final = 0.9995


@dataclass(frozen=True)
class Setting:
    """A plan and the keep rates of its sources.

    Attributes:
        keep: by source, from 0 to 1.
        capacity: available cores: seconds of work per second.
    """

    plan: PlanFunctions
    keep: tuple[float, ...]
    capacity: float = 1.0

    @property
    def output(self) -> float:
        """Expected results per second."""
        return self.plan.output.at(self.keep)

    @property
    def full(self) -> float:
        """Results per second if nothing were dropped."""
        return self.plan.output.at(self._everything)

    @property
    def share(self) -> float:
        """Expected results as a share of all."""
        return self.output / self.full if self.full else 1.0

    @property
    def needed(self) -> float:
        """Cores that the plan needs if nothing is dropped."""
        return self.plan.cost.at(self._everything)

    @property
    def utilisation(self) -> float:
        """Cores that the plan needs at these keep rates."""
        return self.plan.cost.at(self.keep)

    def text(self) -> str:
        """What the plan needs, what is dropped, and the remaining share of output."""
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


def shed(plan: PlanFunctions, capacity: float = 1.0, floor: float = 0.0) -> Setting:
    """Set the drop boxes of a plan so that its output is as large as the capacity allows.

    Sources of one name are one stream with one drop box.

    Args:
        floor: the least keep rate of every source. The model describes the steady state, where
            windows of rows are full; with keep rate 0 such a window never fills or never moves.
    """
    names = [source.name for source in plan.query.sources]
    boxes = {name: box for box, name in enumerate(dict.fromkeys(names))}
    output = _over_boxes(plan, plan.output, boxes)
    program = Program(
        (output.as_sum(len(boxes)) if output else _all_alike(len(boxes)),),
        _over_boxes(plan, plan.cost, boxes).as_sum(len(boxes), scale=1 / capacity),
        np.full(len(boxes), floor, np.float64),
    )
    best = program.best()
    return Setting(plan, tuple(float(best[boxes[name]]) for name in names), capacity)


class _Terms(dict[tuple[int, ...], float]):
    """A posynomial over drop boxes: coefficients by the boxes that are multiplied, ascending."""

    def as_sum(self, boxes: int, scale: float = 1.0) -> Sum:
        exponents = np.zeros((len(self), boxes))
        for row, multiplied in enumerate(self):
            np.add.at(exponents[row], list(multiplied), 1.0)
        return Sum(np.fromiter(self.values(), float, len(self)) * scale, exponents)


def _over_boxes(plan: PlanFunctions, of: Posynomial, boxes: Mapping[str, int]) -> _Terms:
    """A function of the sources' keep rates as a function of the drop boxes'."""
    sources, found = plan.query.sources, _Terms()
    for mask, factor in of.terms.items():
        multiplied = tuple(sorted(boxes[sources[i].name] for i in members(mask)))
        found[multiplied] = found.get(multiplied, 0.0) + factor
    return found


def _all_alike(boxes: int) -> Sum:
    """The objective for a plan without results: the product of all keep rates."""
    return Sum(np.ones(1), np.ones((1, boxes)))
