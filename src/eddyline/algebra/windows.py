"""Stream windows: the rows of a stream that are live at an instant (DESIGN: semantics).

A row of ``Range(T)`` lives in ``[ts, ts + T)``; ``Rows(N)`` holds the last N rows of the stream in
order of arrival; ``PartitionRows`` the last N per value of the partition columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite
from typing import Any

from eddyline.algebra.durations import format_duration
from eddyline.algebra.expressions import Parameter

__all__ = ["PartitionRows", "Range", "RowLength", "Rows", "Unbounded", "Window", "format_duration"]


@dataclass(frozen=True, slots=True)
class RowLength:
    """``rules.seconds SECONDS``: the length of a window in the row of a parameterized query.

    Attributes:
        column: of the row, a number. unit: of time, in singular. unit_us: its length.
    """

    column: Parameter
    unit: str
    unit_us: int

    def us(self, values: Sequence[Any], most_us: int) -> int:
        """The length by the values of a row; 0 for NULL and what is not positive."""
        value = values[self.column.index]
        if value is None or value <= 0:
            return 0
        if not isfinite(value):  # NaN is larger than any number
            return most_us
        return min(int(Decimal(value) * self.unit_us), most_us)

    def __str__(self) -> str:
        return f"{self.column} {self.unit}S"


@dataclass(frozen=True, slots=True)
class Range:
    """``[RANGE T]``; ``[NOW]`` is one microsecond.

    Attributes:
        us: its length. row_length: of a parameterized query, the length if it is less than ``us``.
    """

    us: int
    row_length: RowLength | None = None

    def __post_init__(self) -> None:
        if self.us <= 0:
            raise ValueError(f"a RANGE window must be longer than zero, not {self.us} us")

    def __str__(self) -> str:
        if self.row_length is not None:
            return f"[RANGE {self.row_length} AT MOST {format_duration(self.us)}]"
        if self.us == 1:
            return "[NOW]"
        if self.us % 1_000 == 1:  # derived from a condition with <=
            return f"[RANGE {format_duration(self.us - 1)} + 1 us]"
        return f"[RANGE {format_duration(self.us)}]"


@dataclass(frozen=True, slots=True)
class Rows:
    """``[ROWS N]``."""

    count: int

    def __post_init__(self) -> None:
        if self.count <= 0:
            raise ValueError(f"a ROWS window must hold at least one row, not {self.count}")

    def __str__(self) -> str:
        return f"[ROWS {self.count}]"


@dataclass(frozen=True, slots=True)
class PartitionRows:
    """``[PARTITION BY c, ... ROWS N]``; columns are ordinals of the stream's schema."""

    columns: tuple[int, ...]
    names: tuple[str, ...]
    count: int

    def __post_init__(self) -> None:
        if self.count <= 0:
            raise ValueError(f"a ROWS window must hold at least one row, not {self.count}")

    def __str__(self) -> str:
        return f"[PARTITION BY {', '.join(self.names)} ROWS {self.count}]"


@dataclass(frozen=True, slots=True)
class Unbounded:
    """``[UNBOUNDED]``: rows never expire. ``explicit``: the text has it; equal windows anyway."""

    explicit: bool = field(default=True, compare=False)

    def __str__(self) -> str:
        return "[UNBOUNDED]"


Window = Range | Rows | PartitionRows | Unbounded
