"""Stream windows: the rows of a stream that are live at an instant (DESIGN: semantics).

A row of ``Range(T)`` lives in ``[ts, ts + T)``; ``Rows(N)`` holds the last N rows of the stream in
order of arrival; ``PartitionRows`` the last N per value of the partition columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from eddyline.algebra.durations import format_duration

__all__ = ["PartitionRows", "Range", "Rows", "Unbounded", "Window", "format_duration"]


@dataclass(frozen=True, slots=True)
class Range:
    """``[RANGE T]``; ``[NOW]`` is one microsecond."""

    us: int

    def __post_init__(self) -> None:
        if self.us <= 0:
            raise ValueError(f"a RANGE window must be longer than zero, not {self.us} us")

    def __str__(self) -> str:
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
