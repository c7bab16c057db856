"""The cost of one row in each step of an operator, in seconds of one core.

Prices times the rows per second that take the step give utilisation: the share of a core that an
operator keeps busy (Ayad and Naughton 2004, section 3.2). Their C_I, C_P and C_V (table 1) are
``insert_s``, ``probe_s`` and ``invalidate_s``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Prices:
    """Seconds per row and step; the defaults are typical of one core, and proportional to each
    other.

    Costs of plans differ by factors in the numbers of rows, so which plan is cheapest hardly
    depends on the machine, and is decided by the defaults. The number of cores that a plan needs
    does: calibrate.

    Attributes:
        pass_s: evaluate an expression, pass a row on (C_sigma).
        insert_s: add a row to the state of a join or a grouping (C_I).
        probe_s: find the rows with a key in such a state (C_P).
        invalidate_s: remove an expired row from it (C_V).
        make_s: build a result row from two rows.
        expire_s: push a row to, and pop it from, the rows ordered by expiry.
        aggregate_s: update one aggregate.
        route_s: look up a row in a grouped filter of a flow.
        hand_out_s: deliver a result of a flow to a query.
        compare_s: visit one row of a scanned state, or of a chain of equal keys.
        call_s: call an operator, for any number of rows.

    Raises:
        ValueError: a price is negative or not finite.

    >>> Prices().scaled(2.0).pass_s == 2 * Prices().pass_s
    True
    """

    pass_s: float = 20e-9
    insert_s: float = 80e-9
    probe_s: float = 80e-9
    invalidate_s: float = 80e-9
    make_s: float = 40e-9
    expire_s: float = 60e-9
    aggregate_s: float = 20e-9
    route_s: float = 40e-9
    hand_out_s: float = 300e-9
    compare_s: float = 5e-9
    call_s: float = 50e-6

    def __post_init__(self) -> None:
        for name, price in self.as_dict().items():
            if not (math.isfinite(price) and price >= 0):
                raise ValueError(f"{name} must be at least 0 seconds, not {price}")

    def scaled(self, factor: float) -> Prices:
        """The prices of a machine that takes ``factor`` times as long for every step."""
        return Prices(**{name: price * factor for name, price in self.as_dict().items()})

    def as_dict(self) -> dict[str, float]:
        """For JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, given: Mapping[str, float]) -> Prices:
        """The inverse of ``as_dict``."""
        return cls(**given)


#: The prices of a machine that is not calibrated.
TYPICAL: Final = Prices()
