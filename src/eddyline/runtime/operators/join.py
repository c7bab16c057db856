"""Window join of two inputs: purge, probe, insert, in exact time order.

Each input has a *side*: the rows of it that are alive, in a hash index by join key. Per chunk both
sides take in their new rows; then the changes of each input probe the other side as of their own
instant, and the two result sequences are merged::

      left changes ──▶ left side      right side ◀── right changes
            │              ▲               ▲               │
            └──────────────┼── probe ──────┘               │
                           └────────────── probe ──────────┘

A pair of rows of one and the same event (a self-join) meets once: changes of the right input see
the left side including their own instant, those of the left input the right side up to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eddyline.kernels.chains import match_pairs
from eddyline.kernels.pairs import merged_pairs
from eddyline.runtime.batch import Batch, Predicate, Stored, before
from eddyline.runtime.columns import Array
from eddyline.runtime.index import Probes
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.sides import Side
from eddyline.runtime.state import State, nested


class Join(Operator):
    """Emits the pairs that agree on the keys and meet the residual predicate.

    Args:
        residual: over left columns + right columns; must include the equality of the keys where
            these are hashes (see ``eddyline.runtime.keys``).
    """

    def __init__(
        self,
        left: Operator,
        right: Operator,
        sides: tuple[Side, Side],
        residual: Predicate | None,
    ) -> None:
        super().__init__((left, right))
        self._sides = sides
        self._residual = residual

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        left, right = batches
        (l_side, r_side) = self._sides
        l_keys, left = _usable(l_side, left)
        r_keys, right = _usable(r_side, right)
        l_side.take_in(left, l_keys)
        r_side.take_in(right, r_keys)
        ts, seq, exp, sign, ids = merged_pairs(
            *_found(left, l_keys, r_side, inclusive=False),
            *_found(right, r_keys, l_side, inclusive=True),
        )
        return self._finished(left, right, ts, seq, exp, sign, tuple(ids))

    def live(self, clock: int) -> Batch:
        left, right = (i.live(clock) for i in self.inputs)
        l_keys, left = _usable(self._sides[0], left)
        r_keys, right = _usable(self._sides[1], right)
        l_number, r_number = match_pairs(l_keys, r_keys)
        l_first = before(
            left.ts[l_number], left.seq[l_number], right.ts[r_number], right.seq[r_number]
        )
        batch = self._finished(
            left,
            right,
            np.where(l_first, right.ts[r_number], left.ts[l_number]),
            np.where(l_first, right.seq[r_number], left.seq[l_number]),
            np.minimum(left.exp[l_number], right.exp[r_number]),
            np.ones(l_number.size, np.int8),
            tuple(i[l_number] for i in left.ids) + tuple(i[r_number] for i in right.ids),
        )
        return batch.take(np.lexsort((batch.seq, batch.ts)))

    def _finished(
        self,
        left: Batch,
        right: Batch,
        ts: Array,
        seq: Array,
        exp: Array,
        sign: Array,
        ids: tuple[Array, ...],
    ) -> Batch:
        shift = len(left.ids)
        cells = left.cells + tuple(
            Stored(c.source + shift, c.column) for c in right.cells if isinstance(c, Stored)
        )
        assert len(cells) == len(left.cells) + len(right.cells), "join inputs must be stored"
        batch = Batch(ts, seq, exp, sign, ids, left.stores + right.stores, cells)
        if self._residual is None or len(batch) == 0:
            return batch
        return batch.where(self._residual(batch))

    def settle(self, clock: int) -> None:
        for side in self._sides:
            side.settle(clock)

    def close(self) -> None:
        for side in self._sides:
            side.close()

    def kept(self) -> int:
        return sum(side.kept() for side in self._sides)

    def state(self) -> State:
        return {"left": self._sides[0].state(), "right": self._sides[1].state()}

    def restore(self, state: State) -> None:
        for side, name in zip(self._sides, ("left", "right"), strict=True):
            side.restore(nested(state, name))


def _usable(side: Side, batch: Batch) -> tuple[Array, Batch]:
    """Keys and changes without those that match nothing because their key holds a NULL."""
    keys, usable = side.keys(batch)
    if usable is None or usable.all():
        return keys, batch
    return keys[usable], batch.where(usable)


def _found(
    asking: Batch, keys: Array, other: Side, *, inclusive: bool
) -> tuple[Array, Array, Array, Array, Array, Array, Array, Array]:
    """What the changes of one input find on the other side, as ``merged_pairs`` takes it."""
    by, positions = other.find(Probes(keys, asking.ts, asking.seq), inclusive=inclusive)
    found_ids, found_exp = other.rows(positions)
    return (
        asking.ts,
        asking.seq,
        asking.exp,
        asking.sign,
        _stacked(asking.ids),
        by,
        found_exp,
        _stacked(found_ids),
    )


def _stacked(ids: tuple[Array, ...]) -> Array:
    """int64[k, n]; no copy where k is 1."""
    return ids[0][np.newaxis] if len(ids) == 1 else np.stack(ids)
