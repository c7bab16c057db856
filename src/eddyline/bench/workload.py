"""The rows of every case: two streams at 1,000 rows/s each, uniform keys, a fixed seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.types import TIMESTAMP

_SPACING_US = 1_000
#: Not the epoch: Spark's watermark starts there, and its join would drop a row at it as late.
_START_US = 1_000_000
_SIDES = ("a", "b")


@dataclass(frozen=True)
class BenchLoad:
    """Two streams ``a`` and ``b`` with columns ``ts, k, v``, for a join on ``k``.

    The rows of ``b`` fall half-way between those of ``a``, so no two timestamps are equal. A row
    meets about ``2 * window_rows / keys`` rows of the other stream.

    Attributes:
        rows: per stream.
        keys: how many different values ``k`` has.
        window_rows: rows of one stream that a window holds: 10,000 are 10 seconds.
        string_keys: make ``k`` a string of 12 characters.
    """

    rows: int = 1_000_000
    keys: int = 10_000
    window_rows: int = 10_000
    string_keys: bool = False

    @property
    def window_us(self) -> int:
        """Length of the window."""
        return self.window_rows * _SPACING_US

    @cached_property
    def a(self) -> Any:
        """The stream ``a`` as an Arrow table."""
        return self._side(0)

    @cached_property
    def b(self) -> Any:
        """The stream ``b`` as an Arrow table."""
        return self._side(1)

    def timestamps(self, side: int) -> npt.NDArray[np.int64]:
        """Timestamps of stream 0 or 1 in microseconds, ascending."""
        offset_us = _START_US + side * _SPACING_US // 2
        return np.arange(self.rows, dtype=np.int64) * _SPACING_US + offset_us

    def key_numbers(self, side: int) -> npt.NDArray[np.int64]:
        """Keys of stream 0 or 1 before they may become strings."""
        return np.random.default_rng(side).integers(0, self.keys, self.rows, dtype=np.int64)

    def batches(self, rows: int, begin: int = 0, end: int | None = None) -> list[dict[str, Any]]:
        """Inputs for ``Engine.process``: ``rows`` rows each, half of them from either stream."""
        half = rows // 2
        stop = self.rows if end is None else end
        return [
            {name: table.slice(at, min(half, stop - at)) for name, table in self._tables()}
            for at in range(begin, stop, half)
        ]

    def _tables(self) -> list[tuple[str, Any]]:
        return list(zip(_SIDES, (self.a, self.b), strict=True))

    def _side(self, side: int) -> Any:
        numbers = self.key_numbers(side)
        keys: Any = pa.array(numbers)
        if self.string_keys:
            names = pa.array([f"customer{n:04}" for n in range(self.keys)])
            keys = names.take(keys)
        return pa.table(
            {
                "ts": pa.array(self.timestamps(side)).cast(TIMESTAMP),
                "k": keys,
                "v": pa.array(np.arange(self.rows, dtype=np.int64)),
            }
        )
