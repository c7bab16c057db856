"""What a join costs per unit of time: Equations 7 to 9."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from eddyline.optimizer.joins.flows import Flow
from eddyline.optimizer.joins.posynomial import Number
from eddyline.optimizer.joins.query import Source, Tie
from eddyline.optimizer.prices import TYPICAL, Prices


class Costing(Protocol):
    """A way to count the seconds per second that operators take."""

    def intake_s(self, source: Source) -> float:
        """Of taking in and filtering a source's rows, all of them kept (Eq. 7)."""
        ...

    def join(self, left: Flow[Number], right: Flow[Number], tie: Tie) -> Number:
        """Of a join (Eq. 8)."""
        ...


@dataclass(frozen=True)
class Priced:
    """Insert, probe and invalidate, and the pairs made; each side may have its own prices.

    The right side's window is kept, and probed by rows from the left, at the right side's prices.
    Equation 8 as printed has rows from the left inserted at C_I(R); they go into the left window.

    Pairs that agree on the keys are made before other conditions are checked; without keys a row
    from one side is paired with the whole other window.
    """

    left: Prices = TYPICAL
    right: Prices = TYPICAL

    def intake_s(self, source: Source) -> float:
        return self.left.pass_s * (source.arriving or source.rate + source.taken_back)

    def join(self, left: Flow[Number], right: Flow[Number], tie: Tie) -> Number:
        to_left = self._window(self.left, left, right, tie)
        return to_left + self._window(self.right, right, left, tie)

    def _window(self, prices: Prices, own: Flow[Number], other: Flow[Number], tie: Tie) -> Number:
        """One side's part: its window is kept, and rows of the other side look for matches."""
        agreeing = 1.0 if tie.key_share is None else tie.key_share
        each = prices.compare_s + prices.make_s
        if tie.share < agreeing:  # there is more to decide, over the pairs that have been made
            each += prices.pass_s
        pairs = other.load * own.rows * (agreeing * each)
        if tie.key_share is None:
            return own.load * prices.insert_s + pairs
        kept = own.load * (prices.insert_s + prices.invalidate_s)
        return kept + other.load * prices.probe_s + pairs
