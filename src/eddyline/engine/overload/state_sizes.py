"""The measured size of the state of queries, against the expected one.

Texts are longer or shorter than typical ones, and structures differ by strategy: so per stream and
table the measured bytes of its SteM are compared with what the model expects for the rows that it
holds *now*, and those of all operators with what it expects for as many rows. How full windows are,
and which share of the rows was kept while they filled, does not matter then.

The room that buffers have for more rows does not count: it stays when rows are dropped, so ever
more would be dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.thinned import thinned
from eddyline.optimizer.work import Work, state_of
from eddyline.runtime.footprint import nbytes_of
from eddyline.runtime.stores.stem import Stem

#: Added to both sizes of operators: what empty structures take is not a multiple of anything.
_SMALL: Final = 1 << 18
#: Relative change of a factor that matters.
_CHANGED: Final = 1.05


class StateSizes:
    """Measures the state of queries.

    Args:
        stems: the SteMs of streams and tables. holders: of the state of all queries.

    Attributes:
        factors: measured bytes as a multiple of the expected ones, by stream and table; None: all
            other state.
        used: bytes at the last look; None: there was none.
    """

    def __init__(self, stems: Mapping[str, Stem], holders: Callable[[], Iterable[object]]) -> None:
        self.factors: dict[str | None, float] = {}
        self.used: int | None = None
        self._stems = stems
        self._holders = holders

    def measured(self) -> dict[str | None, int]:
        """Bytes by stream and table; None: of all other state."""
        found: dict[str | None, int] = {
            n: nbytes_of(stem, used=True) for n, stem in self._stems.items()
        }
        found[None] = nbytes_of(list(self._holders()), self._stems.values(), used=True)
        return found

    def look(self, works: Iterable[Work], statistics: Statistics) -> bool:
        """Compare the state with the expected one.

        Args:
            works: what runs. statistics: of all rows, with the age of the oldest ones.

        Returns:
            Whether a factor has changed.
        """
        works, found = list(works), self.measured()
        self.used = sum(found.values())
        expected = state_of(works, statistics)
        held: dict[str, float] = {}  # rows, as a share of those expected
        factors: dict[str | None, float] = {}
        for name, stored in expected.stems.items():
            stem = self._stems.get(name)
            if stem is None or not (stored.rows and len(stem)):
                continue
            held[name] = len(stem) / stored.rows
            factors[name] = found[name] / (len(stem) * stored.row_bytes)
        now = thinned(statistics, {n: share for n, share in held.items() if n in statistics.rates})
        rest = state_of(works, now).by_stem({})[None]
        factors[None] = (found[None] + _SMALL) / (rest + _SMALL)
        before, self.factors = self.factors, factors
        return any(
            not 1 / _CHANGED < factor / before.get(name, 1.0) < _CHANGED
            for name, factor in factors.items()
        )

    def saved(self) -> list[Any]:
        """For JSON."""
        return [[list(item) for item in self.factors.items()], self.used]

    def restore(self, saved: list[Any]) -> None:
        """Take over what ``saved`` returned."""
        factors, self.used = saved
        self.factors = dict(factors)
