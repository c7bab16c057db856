"""Windows between fixed instants: TUMBLE, HOP and CUMULATE.

A row at ``ts`` is in each window ``[start, end)`` that contains ``ts``. There it lives from ``ts``
until just before ``end``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Final, Literal

from eddyline.algebra.durations import format_duration

Kind = Literal["TUMBLE", "HOP", "CUMULATE"]
#: No month is longer.
MONTH_US: Final = 31 * 86_400_000_000


@dataclass(frozen=True, slots=True)
class Months:
    """Lengths of windows of calendar months, UTC, counted from January 1970.

    Attributes:
        size: of the windows. step: 0: it has a fixed length, and each month consists of steps.
        offset: number of months by which windows begin later.
    """

    size: int
    step: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class TimeWindows:
    """Windows of ``size_us``, at 1970-01-01 00:00 UTC + ``offset_us`` + multiples of ``step_us``.

    Attributes:
        kind: TUMBLE: windows begin where others end; the step is the size. HOP: one begins every
            step. CUMULATE: several begin together, every size; one of these ends every step.
        months: the lengths, if they are months; size and step in us are those of the longest.
    """

    kind: Kind
    size_us: int
    step_us: int
    offset_us: int = 0
    months: Months | None = None

    def __post_init__(self) -> None:
        if self.size_us <= 0 or self.step_us <= 0:
            raise ValueError(f"a {self.kind} window must be longer than zero")
        if self.kind == "TUMBLE" and self.step_us != self.size_us:
            raise ValueError("the step of TUMBLE is its size")
        if self.kind == "CUMULATE" and not self.months and self.size_us % self.step_us:
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
    def slices(self) -> TimeWindows:
        """The slices of which every window consists, as windows."""
        months = self.months
        if months is not None and months.step:
            count = gcd(months.size, months.step)
            length, offset = count * MONTH_US, self.offset_us
            months = Months(count, count, months.offset % count)
            return TimeWindows("TUMBLE", length, length, offset, months)
        length = self.step_us if months else gcd(self.size_us, self.step_us)
        return TimeWindows("TUMBLE", length, length, self.offset_us % length)

    @property
    def per_row(self) -> float:
        """How many windows a row is in, on average."""
        steps = self.size_us / self.step_us
        return (steps + 1) / 2 if self.kind == "CUMULATE" else steps

    def __str__(self) -> str:
        months = self.months or Months(0, 0)
        text = f"{self.kind} {_shown(months.size, self.size_us)}"
        if self.kind != "TUMBLE":
            text += f" EVERY {_shown(months.step, self.step_us)}"
        offsets = [_shown(months.offset, 0)] if months.offset else []
        offsets += [format_duration(self.offset_us)] if self.offset_us else []
        return f"{text} OFFSET {' '.join(offsets)}" if offsets else text


def _shown(months: int, us: int) -> str:
    if not months:
        return format_duration(us)
    count, unit = (months // 12, "YEAR") if months % 12 == 0 else (months, "MONTH")
    return f"{count} {unit}{'' if count == 1 else 'S'}"
