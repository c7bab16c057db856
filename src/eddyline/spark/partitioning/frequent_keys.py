"""Frequent keys of an input: how many rows have each, counted in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from eddyline.kernels.frequent import count_frequent
from eddyline.runtime.stores.columns import Array

#: Counters of a sketch, for each coordinate of the axis.
_COUNTERS: Final = 16
#: A key is reported if its share of the rows is this part of what a coordinate has on average.
REPORTED: Final = 1 / 8


class Sketch:
    """Counts the rows of frequent keys along an axis.

    Args:
        size: number of coordinates of the axis.

    Attributes:
        rows: number of rows counted.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._most = _COUNTERS * size
        places = 1 << (2 * self._most - 1).bit_length()
        self._keys = np.zeros(places, np.int64)
        self._counts = np.zeros(places, np.int64)
        self._texts: dict[int, str] = {}
        self.rows = 0

    def add(self, hashes: Array, text: Callable[[int], str]) -> None:
        """Count rows.

        Args:
            hashes: int64[n], of their keys. text: the key of row i in words.
        """
        self.rows += hashes.size
        count_frequent(hashes, self._keys, self._counts, self._most)
        for key in self._frequent().keys() - self._texts.keys():
            rows = np.flatnonzero(hashes == key)
            if rows.size:
                self._texts[key] = text(int(rows[0]))

    def counts(self) -> dict[int, tuple[int, str]]:
        """The hashes of frequent keys: numbers of rows, too small by at most 1/16 of what a
        coordinate has on average; and the keys in words.
        """
        return {h: (n, self._texts.get(h, "")) for h, n in self._frequent().items()}

    def _frequent(self) -> dict[int, int]:
        least = REPORTED * self.rows / self._size
        found = np.flatnonzero(self._counts > least)
        return dict(zip(self._keys[found].tolist(), self._counts[found].tolist(), strict=True))


@dataclass(frozen=True)
class KeyCounts:
    """The frequent keys of an input along an axis, as a task of ingest has counted them.

    Attributes:
        rows: number of rows counted. counts: by hash of a key, its rows and the key in words.
    """

    input: str
    axis: int
    rows: int
    counts: Mapping[int, tuple[int, str]]

    def packed(self) -> bytes:
        """As JSON."""
        return json.dumps(self.fields()).encode()

    def fields(self) -> list[Any]:
        """For JSON."""
        return [self.input, self.axis, self.rows, [[h, *of] for h, of in self.counts.items()]]

    @classmethod
    def read(cls, fields: list[Any]) -> KeyCounts:
        """What :meth:`fields` returned."""
        name, axis, rows, counts = fields
        return cls(name, axis, rows, {h: (n, text) for h, n, text in counts})
