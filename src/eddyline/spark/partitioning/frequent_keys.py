"""Frequent keys: how many rows have each, in bounded memory, and which are worth a split."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
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


@dataclass(frozen=True)
class SplitLimits:
    """When keys are split.

    Attributes:
        first, last: a key is split if its share of the rows of the input to spread is more than
            this part of what a coordinate has on average, and no longer if it is less.
        least_rows: of an input, counted, before any of its keys is split.
        most: number of keys that are split at a time, for each layout.
        kept: weight of the counts so far when those of a batch are added.
    """

    first: float = 1 / 2
    last: float = 1 / 4
    least_rows: float = 2_000
    most: int = 64
    kept: float = 0.9


DEFAULT_LIMITS: Final = SplitLimits()


def keys_to_split(
    rows: Mapping[str, float],
    counts: Mapping[int, Mapping[str, float]],
    size: int,
    limits: SplitLimits,
    split: Mapping[int, str] = MappingProxyType({}),
) -> dict[int, str]:
    """The keys along an axis that are worth a split, each with the input to spread: the one with
    the most of its rows. Copies are bounded: a cell gets at most as many as it would have rows of
    the key as its only cell, and all cells together as many as there are rows.

    Args:
        rows: by input, all of them. counts: by hash of a key, the rows that have it.
        size: number of coordinates. split: keys that are split already.
    """
    found: dict[int, str] = {}
    copies = 0.0  # in each cell
    most = sum(rows.values()) / max(size - 1, 1)
    for key in sorted(counts, key=lambda key: -sum(counts[key].values())):
        of = counts[key]
        spread = split.get(key) or max(of, key=of.__getitem__)
        copied = sum(n for name, n in of.items() if name != spread)
        if key in split:
            copies += copied
        elif rows[spread] >= limits.least_rows and of[spread] * size > limits.first * rows[spread]:
            if copies + copied > min(sum(of.values()), most):
                break  # its cell has the most to do, whatever is split besides
            copies += copied
            found[key] = spread
    return found
