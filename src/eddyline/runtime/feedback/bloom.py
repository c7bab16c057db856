"""Bloom filters over the rows that are alive: whether one may have a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from eddyline.kernels.bloom import BITS_PER_KEY, add, may_hold
from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.feedback.partners import Keeping, Known
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.types import BEGINNING

_LEAST_KEYS: Final = 1_024


@dataclass
class Generation:
    """A filter over rows that came one after the other.

    Attributes:
        words: int64[2**k], its bits.
        keys: how many have been added.
        last: when all of its rows will have expired.
    """

    words: Array
    keys: int = 0
    last: int = BEGINNING

    @property
    def room(self) -> int:
        """How many keys it is good for."""
        return self.words.size * 64 // BITS_PER_KEY


def _generation(keys: int) -> Generation:
    size = 1 << (max(keys, _LEAST_KEYS) * BITS_PER_KEY // 64 - 1).bit_length()
    return Generation(np.zeros(size, np.int64))


class BloomPartners(Known):
    """What ``Partners`` says of keys that exist, but it may say so of others: a row then passes a
    gate though there is no match for it. It takes 16 to 64 bits per row that is alive.

    A filter forgets nothing. So there are two generations: rows go into the newer; when all rows of
    the older one have expired it is dropped, and the newer is the older from then on. A generation
    that is full is followed by another one at once, twice as large.

    Source: Yang and Papadias 2008, section IV-A; the generations are ours.
    """

    def __init__(self, kept: Keeping, keys: Sequence[Evaluator]) -> None:
        super().__init__(kept, keys)
        self._generations = [_generation(0)]

    def _begin(self, positions: Array) -> None:
        self._generations = [_generation(0)]
        if positions.size:
            self._put(self._kept.rows_at(positions))

    def _add(self, batch: Batch, positions: Array) -> None:
        self.fresh = self._put(batch)

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
        """bool[n]: whether there may be a row with the key that is alive."""
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
        """It holds nothing of others."""

    def stats(self) -> dict[str, Any]:
        """How large the filters are."""
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
