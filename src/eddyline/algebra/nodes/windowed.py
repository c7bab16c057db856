"""Nodes of windows between fixed instants."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from eddyline.algebra.nodes.base import Plan, Unary
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.time_windows import TimeWindows
from eddyline.types import TIMESTAMP, Field, Schema

#: The columns that windows add.
WINDOW_COLUMNS: Final = (Field("window_start", TIMESTAMP), Field("window_end", TIMESTAMP))


@dataclass(frozen=True)
class WithWindow(Unary):
    """A node whose rows are those of the input with the columns of a window behind them."""

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, *WINDOW_COLUMNS)

    @property
    def start(self) -> int:
        """The column of window_start; that of window_end is the next."""
        return len(self.input.schema)


@dataclass(frozen=True)
class Windowed(WithWindow):
    """Emits a row per window that contains the input row's instant; it lives until the window ends,
    however long the input row does. Keeps nothing.

    The input takes no row back.
    """

    windows: TimeWindows

    def __post_init__(self) -> None:
        assert not self.input.takes_back, "a '-' is at another instant than its row"

    @cached_property
    def pattern(self) -> Pattern:
        return Pattern.WKS if self.windows.single else Pattern.WK

    @cached_property
    def lifespan_us(self) -> int | None:
        return self.windows.size_us

    @cached_property
    def expiry(self) -> object:
        return self.windows

    @property
    def label(self) -> str:
        return str(self.windows)


@dataclass(frozen=True)
class FinalRows(Unary):
    """EMIT FINAL: emits each row that is in the input's answer when its window ends, at that
    instant. Nothing is taken back.

    Attributes:
        end: the column with the end of the row's window.
        in_window: whether rows come in the last instant of their window instead, after all others,
            and leave when it ends: what above looks at windows only when they end, sees the same.
    """

    end: int
    in_window: bool = False

    @cached_property
    def pattern(self) -> Pattern:
        return Pattern.WKS if self.in_window else Pattern.MONOTONIC

    @cached_property
    def takes_back(self) -> bool:
        return False

    @cached_property
    def lifespan_us(self) -> int | None:
        return 1 if self.in_window else None

    @property
    def label(self) -> str:
        return f"{'just before' if self.in_window else 'at'} {self.input.schema[self.end].name}"


def is_window(plan: Plan) -> bool:
    """Whether a node has windows of a query; those over rows at the end of others let them go after
    an instant.
    """
    if not isinstance(plan, Windowed):
        return False
    return not isinstance(plan.input, FinalRows) or plan.input.in_window
