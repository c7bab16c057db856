"""Blocks of rows that stand for the paper's tuples.

A tuple of the paper is too little work to time in Python. A block of rows of one instant
takes its place, and the largest window has fewer of them. What response times depend on stays: the
windows as parts of the largest, and how busy the server is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from eddyline.bench.figures.shared_windows.arrivals import ArrivalTimes, evenly
from eddyline.runtime.stores.columns import Array

Method = Literal["hash", "nested loops"]

SECOND_US: Final = 1_000_000


@dataclass(frozen=True)
class JoinLoad:
    """How large everything is.

    Attributes:
        block_rows: rows of a unit.
        window_blocks: units of each stream in the largest window.
        matches: of a row in the largest window, on average.
        units: of each stream that are measured.
        utilisation: of the server under LWO.
        alike: whether the clock of each strategy is slowed down or sped up so that a scan takes
            as long as under LWO, which leaves what is due to the schedule.
    """

    method: Method
    block_rows: int
    window_blocks: int
    matches: float
    units: int
    utilisation: float = 0.8
    alike: bool = False


@dataclass(frozen=True)
class Blocks:
    """The units of a run, by number; the first ``preloaded`` ones fill the windows.

    Attributes:
        windows_s: of the queries, ascending.
        stream: int64[n], 0 or 1. ts_us: int64[n], ascending. keys: int64[n, g], of their rows.
    """

    load: JoinLoad
    windows_s: tuple[int, ...]
    preloaded: int
    stream: Array
    ts_us: Array
    keys: Array

    @property
    def windows_us(self) -> list[int]:
        """The windows in microseconds, ascending."""
        return [w * SECOND_US for w in self.windows_s]


def blocks(
    load: JoinLoad, windows_s: Sequence[int], measured: ArrivalTimes, largest_s: int
) -> Blocks:
    """Full windows, and behind them the units that are measured.

    Args:
        windows_s: of the queries.
        largest_s: the window that has ``load.window_blocks`` units of each stream.
    """
    before = evenly(load.window_blocks)
    gap_us = largest_s * SECOND_US / load.window_blocks
    at = np.concatenate((before.at, load.window_blocks + measured.at))
    rng = np.random.default_rng(7)
    keys = max(round(load.window_blocks * load.block_rows / load.matches), 1)
    return Blocks(
        load,
        tuple(windows_s),
        len(before),
        np.concatenate((before.stream, measured.stream)),
        np.floor(at * gap_us).astype(np.int64),
        rng.integers(0, keys, (at.size, load.block_rows)),
    )
