"""The oracle's windows between fixed instants in DuckDB's SQL; those of calendar months, UTC,
counted from January 1970.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

#: TUMBLE, HOP or CUMULATE, with size, step and offset in us.
FixedLengths: TypeAlias = tuple[str, int, int, int]
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class MonthWindows:
    """TUMBLE, HOP or CUMULATE (``kind``) of months; ``step`` 0: each month consists of ``step_us``.

    ``offset`` and ``offset_us``: windows begin this many months, and then microseconds, later.
    """

    kind: str
    size: int
    step: int
    step_us: int
    offset: int
    offset_us: int

    def rendered(self) -> tuple[str, str, str]:
        """DuckDB's SQL of the numbers of windows of a row (``n.k``) near ``r.__ts``, and of the
        start and the end of each, in us; windows that are none end before the row.
        """
        month = (
            f"datediff('month', TIMESTAMP '1970-01-01', make_timestamp(r.__ts - {self.offset_us}))"
        )
        every = self.size if self.kind == "CUMULATE" else self.step
        base = (
            f"CAST(floor(({month} - {self.offset}) / {every}) AS BIGINT) * {every} + {self.offset}"
        )
        if self.kind != "CUMULATE":
            numbers = f"generate_series({-(self.size // self.step) - 1}, 0)"
            start = f"{base} + n.k * {self.step}"
            return numbers, self._us(start), self._us(f"{start} + {self.size}")
        if self.step:
            numbers = f"generate_series(1, {self.size // self.step})"
            return numbers, self._us(base), self._us(f"{base} + n.k * {self.step}")
        count = self.size * 31 * 86_400_000_000 // self.step_us
        end = f"{self._us(base)} + n.k * {self.step_us}"
        last = self._us(f"{base} + {self.size}")
        return f"generate_series(1, {count})", self._us(base), f"if({end} <= {last}, {end}, r.__ts)"

    def _us(self, month: str) -> str:
        moment = f"TIMESTAMP '1970-01-01' + to_months(CAST({month} AS INTEGER))"
        return f"(epoch_us({moment}) + {self.offset_us})"

    def ends_after(self, ts: int) -> Iterator[int]:
        """When windows end that contain an instant, in us; further ends of windows may follow."""
        moment = _EPOCH + timedelta(microseconds=ts - self.offset_us)
        month = (moment.year - 1970) * 12 + moment.month - 1
        for number in range(month, month + self.size + 2):
            first = self._start(number)
            if self.step == 0:
                following = self._start(number + 1)
                yield from (e for e in range(first, following, self.step_us) if e > ts)
                continue
            begins = number if self.kind == "CUMULATE" else number - self.size
            if first > ts and (begins - self.offset) % self.step == 0:
                yield first

    def _start(self, month: int) -> int:
        moment = datetime(1970 + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        return (moment - _EPOCH) // timedelta(microseconds=1) + self.offset_us


def rendered(fixed: FixedLengths | MonthWindows) -> tuple[str, str, str]:
    """The numbers of windows of a row, and the start and the end of each."""
    if isinstance(fixed, MonthWindows):
        return fixed.rendered()
    kind, size, step, offset = fixed
    first, last = (0, size // step - 1) if kind == "CUMULATE" else (-(size // step) - 1, 0)
    every = size if kind == "CUMULATE" else step
    base = f"CAST(floor((r.__ts - {offset}) / {every}) AS BIGINT) * {every} + {offset}"
    start, end = f"{base} + n.k * {step}", f"{base} + n.k * {step} + {size}"
    if kind == "CUMULATE":
        start, end = base, f"{base} + (n.k + 1) * {step}"
    return f"generate_series({first}, {last})", start, end
