"""Bloom filters over the keys of the rows that are alive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from eddyline.kernels.bloom import BITS_PER_KEY, add, may_hold
from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.feedback.key_index import KeySet, RowBuffer
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.types import BEGINNING

_LEAST_KEYS: Final = 1_024


@dataclass
class Generation:
    """A filter over consecutive rows.

    Attributes:
        words: int64[2**k], its bits.
        keys: number of keys added.
        last: when all of its rows will have expired.
    """

    words: Array
    keys: int = 0
    last: int = BEGINNING

    @property
    def room(self) -> int:
        """Number of keys it is large enough for."""
        return self.words.size * 64 // BITS_PER_KEY


def _generation(keys: int) -> Generation:
    size = 1 << (max(keys, _LEAST_KEYS) * BITS_PER_KEY // 64 - 1).bit_length()
    return Generation(np.zeros(size, np.int64))


class BloomKeys(KeySet):
    """A key set with false positives: a row may pass a gate without a match. It takes 16 to 64 bits
    per row that is alive.

    Keys cannot be removed from a filter. So there are two generations: rows are added to the newer;
    when all rows of the older have expired it is dropped, and the newer becomes the older. A full
    generation is followed by another at once, twice as large.

    Source: Yang and Papadias 2008, section IV-A; the generations are ours.
    """

    def __init__(self, buffer: RowBuffer, keys: Sequence[Evaluator]) -> None:
        super().__init__(buffer, keys)
        self._generations = [_generation(0)]

    def _begin(self, positions: Array) -> None:
        self._generations = [_generation(0)]
        if positions.size:
            self._put(self._buffer.rows_at(positions))

    def _add(self, batch: Batch, positions: Array) -> None:
        self.fresh = self._put(batch)

    def _link(self, batch: Batch, positions: Array) -> Array:
        return self._put(batch)

    def _put(self, batch: Batch) -> Array:
        """Add rows to the newest generation; returns their keys."""
        (keys, usable), exp = self._keyed(batch), batch.exp
        if usable is not None:
            keys, exp = keys[usable], exp[usable]
        newest = self._generations[-1]
        if newest.keys + keys.size > newest.room:
            newest = _generation(2 * (newest.keys + keys.size))
            self._generations.append(newest)
        add(newest.words, keys)
        newest.keys += keys.size
        newest.last = max(newest.last, int(exp.max(initial=BEGINNING)))
        return keys

    def exist(self, keys: Array, ts: Array) -> Array:
        there = np.zeros(keys.size, np.bool_)
        for generation in self._generations:
            may_hold(generation.words, keys, there)
        return there

    def settle(self, clock: int) -> None:
        *older, newest = self._generations
        self._generations = [g for g in older if g.last > clock] + [newest]
        if len(self._generations) == 1 and newest.keys:
            self._generations.append(_generation(newest.keys))

    def close(self) -> None:
        """It has no lanes in the store."""

    def stats(self) -> dict[str, Any]:
        """Sizes of the filters."""
        return {
            "generations": len(self._generations),
            "keys": sum(g.keys for g in self._generations),
            "bytes": sum(g.words.nbytes for g in self._generations),
        }

    def _saved(self) -> State:
        return {
            str(i): {"words": g.words, "counters": np.array([g.keys, g.last])}
            for i, g in enumerate(self._generations)
        }

    def _restore(self, state: State) -> None:
        saved = [nested(state, str(i)) for i in range(len(state))]
        self._generations = [
            Generation(array(g, "words"), *(int(c) for c in array(g, "counters"))) for g in saved
        ]
