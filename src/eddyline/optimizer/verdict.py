"""What queries may use, what they need, and what is kept of the streams' rows for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Final

from eddyline.optimizer.byte_sizes import bytes_text
from eddyline.optimizer.work import Work

#: Share of a limit that is not used, so that rounding stays below it.
SPARED: Final = 1e-3


@dataclass(frozen=True)
class Limits:
    """What queries may use.

    Attributes:
        cores: CPU cores. memory: bytes of state.
        sizes: by stream and table, and for all other state (None), the measured size as a multiple
            of the expected one.
    """

    cores: float = inf
    memory: float = inf
    sizes: Mapping[str | None, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """Whether queries are feasible, and the keep rates under overload.

    Attributes:
        capacity: in cores. needed: utilisation with all rows kept.
        memory: maximum bytes of state. state: bytes with all rows kept; 0 without a maximum.
        keep: keep rates of the streams with drop boxes. used: utilisation with them.
            stored: bytes of state with them.
        outputs: by query, the expected output as a share of the full one, where it is below 1.
        ranked: by stream whose rows are not drawn, by what they are ranked.
        reordered: units that run with other joins for this.
    """

    capacity: float
    needed: float
    used: float
    keep: Mapping[str, float] = field(default_factory=dict)
    outputs: Mapping[str, float] = field(default_factory=dict)
    reordered: tuple[Work, ...] = ()
    memory: float = field(default=inf, kw_only=True)
    state: float = field(default=0.0, kw_only=True)
    stored: float = field(default=0.0, kw_only=True)
    ranked: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    @property
    def feasible(self) -> bool:
        """Whether all rows can be kept."""
        return self.needed <= self.capacity and self.state <= self.memory

    def fits(self, tolerance: float = SPARED) -> bool:
        """Whether the limits are kept with the drop boxes."""
        most = 1 + tolerance
        return self.used <= self.capacity * most and self.stored <= self.memory * most

    def text(self) -> str:
        """One line for display.

        >>> Verdict(1.0, 1.4, 1.0, {"b": 0.88}, {"q": 0.88}).text()
        'needs 1.4 of 1 cores; feasible with 12 % of b dropped, output 0.88 of full'
        """
        needs = f"needs {self._cores(self.needed)}{self._bytes(self.state, ' and ')}"
        if not self.keep:
            return needs if self.feasible else f"{needs}; no stream can be thinned"
        dropped = ", ".join(map(self._dropped, self.keep))
        shares = [s for s in self.outputs.values() if s is not None]
        output = ""
        if shares:
            low, high = f"{min(shares):.2g}", f"{max(shares):.2g}"
            output = f", output {low if low == high else f'{low} to {high}'} of full"
        if not self.fits():
            even = f"{self.used:.3g}{self._bytes(self.stored, ' cores and ')}"
            return f"{needs}, and {even} even with {dropped} dropped{output}"
        return f"{needs}; feasible with {dropped} dropped{output}"

    def _dropped(self, stream: str) -> str:
        by = f" of the lowest {self.ranked[stream]}" if stream in self.ranked else ""
        return f"{100 * (1 - self.keep[stream]):.3g} % of {stream}{by}"

    def _cores(self, cores: float) -> str:
        return f"{cores:.3g} of {self.capacity:g} cores"

    def _bytes(self, nbytes: float, before: str) -> str:
        if self.memory == inf:
            return ""
        return f"{before}{bytes_text(nbytes)} of {bytes_text(self.memory)} of state"
