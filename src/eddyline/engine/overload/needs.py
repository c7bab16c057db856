"""What needs most: CPU cores and bytes of state by what runs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from heapq import nlargest
from operator import itemgetter
from typing import Final

from eddyline.optimizer.prices import Prices
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.work import Work

#: Number of units with the largest need that are named.
_LARGEST: Final = 5


def largest_cores(works: Iterable[Work], known: Statistics, prices: Prices) -> dict[str, float]:
    """By what runs, the cores of those that need most."""
    shares: dict[str, float] = {}
    counted: set[Hashable] = set()
    for work in works:
        costs = work.costs(known, prices)
        own = sum(costs[part] for part in costs.keys() - counted)
        shares[work.label] = shares.get(work.label, 0.0) + own
        counted |= costs.keys()
    return _most(shares)


def largest_state(
    works: Iterable[Work], known: Statistics, measured: Mapping[str | None, float]
) -> tuple[float, dict[str, float]]:
    """Bytes of the state of all that runs; and of what needs most of it: rows of streams and
    tables, and by what runs all else.

    Args:
        measured: sizes as a multiple of the expected ones; see ``Limits``.
    """
    stems: dict[str, float] = {}
    rest: dict[str, float] = {}
    counted: set[Hashable] = set()
    for work in works:
        size = work.state(known)
        for name, nbytes in size.by_stem(measured).items():
            if name is not None:
                stems[f"rows of {name}"] = max(nbytes, stems.get(f"rows of {name}", 0.0))
        own = sum(size.others[part] for part in size.others.keys() - counted)
        counted |= size.others.keys()
        if own:
            rest[work.label] = rest.get(work.label, 0.0) + own * measured.get(None, 1.0)
    everything = {**stems, **rest}
    return sum(everything.values()), _most(everything)


def _most(shares: Mapping[str, float]) -> dict[str, float]:
    return dict(nlargest(_LARGEST, shares.items(), key=itemgetter(1)))
