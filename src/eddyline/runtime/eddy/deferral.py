"""Expensive predicates wait for the join: they are applied to the rows that it leaves.

A predicate that calls a slow function is usually applied to each row of its source, before the row
is stored and joined. Behind a selective join fewer rows are left, so that it may cost less there,
although rows that it rejects are joined then. Both costs are estimated from what was measured, and
the cheaper place is taken; each row of a source is evaluated once per batch of results.

Source: Madden et al. 2002, section 2 (an eddy routes rows between filters and SteMs in any order);
Chaudhuri and Shim 1999 (expensive predicates among joins).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from eddyline.runtime.eddy.routing import Composites
from eddyline.runtime.join_inputs.flow_windows import FlowRows, Windows
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.predicates.filter_bank import FilterBank
from eddyline.runtime.predicates.grouped_filter import GroupedFilter
from eddyline.runtime.stores.columns import Array
from eddyline.types import BEGINNING

#: Minimum seconds per row of a predicate that may wait.
_EXPENSIVE_S: Final = 2e-6
#: Number of batches that are measured before a decision, and the share of the costs that the other
#: place must not exceed.
_BATCHES: Final = 8
_CLEARLY: Final = 0.7
_LEAST_SHARE: Final = 0.01


@dataclass(slots=True)
class _Measured:
    """What was measured of a predicate since the last decision.

    Attributes:
        visited, returned: as of the filter, at the last decision.
        came: rows of the source that were stored. joined: different rows of it in results.
        seconds: of joining.
    """

    visited: int
    returned: int
    batches: int = 0
    came: int = 0
    joined: int = 0
    seconds: float = 0.0


class Deferral:
    """Decides where the predicates of a flow are applied.

    Args:
        inputs, banks: of its sources. Where windows count rows, predicates do not wait.

    Attributes:
        is_active: whether some predicates are applied to results.
    """

    def __init__(self, inputs: Sequence[LineageInput], banks: Sequence[FilterBank]) -> None:
        self._inputs, self._banks = tuple(inputs), tuple(banks)
        self._sources = [
            n for n, rows in enumerate(inputs) if not isinstance(rows.window, FlowRows)
        ]
        self._measured: dict[GroupedFilter, _Measured] = {}
        self._clock = BEGINNING  # of the last batch
        self.is_active = False

    def apply(self, whole: Composites, lineage: Array) -> None:
        """Clear the bits of the queries whose waiting predicates do not accept a result.

        Args:
            lineage: uint64[n, W], of the results.
        """
        for source in self._sources:
            bank = self._banks[source]
            if not bank.late(self._clock):
                continue
            ids, place = np.unique(whole.ids[source], return_inverse=True)
            required = np.zeros((ids.size, lineage.shape[1]), np.uint64)
            np.bitwise_or.at(required, place, lineage)
            bank.narrow_late(self._inputs[source].rows(ids), required)
            lineage &= required[place]

    def decide(
        self,
        came: Sequence[int],
        whole: Composites,
        seconds: float,
        windows: Sequence[Windows],
        clock: int,
    ) -> None:
        """Count a batch, and decide where predicates are applied from the next one on.

        Args:
            came: by source, how many rows were stored. whole: results, before ``apply``.
            seconds: of joining them. windows: by source. clock: the end of the batch.
        """
        self._clock = clock
        slow = [(s, f) for s in self._sources for f in self._banks[s].filters if _is_slow(f)]
        self._measured = {f: self._measured[f] for _, f in slow if f in self._measured}
        for source, grouped in slow:
            measured = self._count(source, grouped, came[source], whole, seconds)
            if measured.batches >= _BATCHES:
                longest = int(windows[source].lengths.max(initial=0))
                self._place(source, grouped, measured, longest)
        self.is_active = any(self._banks[s].late(clock) for s in self._sources)

    def _count(
        self, source: int, grouped: GroupedFilter, came: int, whole: Composites, seconds: float
    ) -> _Measured:
        known = self._measured.get(grouped)
        if known is None:  # from the next batch on
            known = self._measured[grouped] = _Measured(grouped.visited, grouped.returned)
            return known
        known.batches += 1
        known.came += came
        known.joined += np.unique(whole.ids[source]).size
        known.seconds += seconds
        return known

    def _place(
        self, source: int, grouped: GroupedFilter, measured: _Measured, longest_us: int
    ) -> None:
        """Decide where a predicate is applied."""
        del self._measured[grouped]
        bank = self._banks[source]
        visited = grouped.visited - measured.visited
        share = max((grouped.returned - measured.returned) / max(visited, 1), _LEAST_SHARE)
        if bank.is_put_off(grouped):
            late = visited * grouped.price + measured.seconds
            early = measured.came * grouped.price + share * measured.seconds
            if early < _CLEARLY * late:
                bank.put_forward(grouped, self._clock + longest_us)
        else:
            early = visited * grouped.price + measured.seconds
            late = (measured.joined * grouped.price + measured.seconds) / share
            if late < _CLEARLY * early:
                bank.put_off(grouped)


def _is_slow(grouped: GroupedFilter) -> bool:
    """Whether a filter is over an expression that takes long."""
    return grouped.price >= _EXPENSIVE_S and not grouped.attribute.plain
