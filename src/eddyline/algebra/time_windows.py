"""Windows between fixed instants: TUMBLE, HOP and CUMULATE.

A row at ``ts`` is in each window ``[start, end)`` that contains ``ts``. There it lives from ``ts``
until just before ``end``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Literal

from eddyline.algebra.durations import format_duration

Kind = Literal["TUMBLE", "HOP", "CUMULATE"]


@dataclass(frozen=True, slots=True)
class TimeWindows:
    """Windows of ``size_us``, at 1970-01-01 00:00 UTC + ``offset_us`` + multiples of ``step_us``.

    Attributes:
        kind: TUMBLE: windows begin where others end; the step is the size. HOP: one begins every
            step. CUMULATE: several begin together, every size; one of these ends every step.
    """

    kind: Kind
    size_us: int
    step_us: int
    offset_us: int = 0

    def __post_init__(self) -> None:
        if self.size_us <= 0 or self.step_us <= 0:
            raise ValueError(f"a {self.kind} window must be longer than zero")
        if self.kind == "TUMBLE" and self.step_us != self.size_us:
            raise ValueError("the step of TUMBLE is its size")
        if self.kind == "CUMULATE" and self.size_us % self.step_us:
            raise ValueError("the size of CUMULATE is a multiple of its step")

    @property
    def single(self) -> bool:
        """Whether one window is open at each instant."""
        return self.kind == "TUMBLE"

    @property
    def start_decides(self) -> bool:
        """Whether windows that begin together end together."""
        return self.kind != "CUMULATE"

    @property
    def slice_us(self) -> int:
        """Length of the slices of which every window consists."""
        return gcd(self.size_us, self.step_us)

    @property
    def slices(self) -> TimeWindows:
        """The slices, as windows."""
        length = self.slice_us
        return TimeWindows("TUMBLE", length, length, self.offset_us % length)

    @property
    def per_row(self) -> float:
        """How many windows a row is in, on average."""
        steps = self.size_us / self.step_us
        return (steps + 1) / 2 if self.kind == "CUMULATE" else steps

    def __str__(self) -> str:
        text = f"{self.kind} {format_duration(self.size_us)}"
        if self.kind != "TUMBLE":
            text += f" EVERY {format_duration(self.step_us)}"
        return f"{text} OFFSET {format_duration(self.offset_us)}" if self.offset_us else text
