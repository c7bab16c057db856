"""Rows that are needed further up: the input of operators below a join that takes rows back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from eddyline.algebra.nodes.base import Keys, Plan, Unary
from eddyline.algebra.nodes.scans import StreamScan
from eddyline.algebra.patterns import Pattern


@dataclass(frozen=True)
class Partners:
    """Rows of another plan, with one of which a row is joined further up, by equal keys."""

    plan: Plan
    keys: Keys


@dataclass(frozen=True)
class Admitted(Unary):
    """Emits the rows of the input that have a partner in each of some other plans. A row whose
    partner comes later is emitted then: as of an instant before the partner, with its own expiry.
    Keeps all rows of the input. Physical planning puts it into plans.

    Attributes:
        beside: the streams whose rows are processed with these.
    """

    partners: tuple[Partners, ...]
    beside: tuple[StreamScan, ...]

    @cached_property
    def pattern(self) -> Pattern:  # rows that come late expire before others
        return max(self.input.pattern, Pattern.WK)

    @property
    def label(self) -> str:
        keys = (f"{a} = {b}" for each in self.partners for a, b in each.keys)
        return ", ".join(keys)
