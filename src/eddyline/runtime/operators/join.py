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
from eddyline.kernels.merge import merge_destinations
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
        l_number, r_found = r_side.find(Probes(l_keys, left.ts, left.seq), inclusive=False)
        r_number, l_found = l_side.find(Probes(r_keys, right.ts, right.seq), inclusive=True)
        by_left = _paired(left, l_number, *r_side.rows(r_found), swap=False)
        by_right = _paired(right, r_number, *l_side.rows(l_found), swap=True)
        return self._finished(left, right, _merged(by_left, by_right))

    def live(self, clock: int) -> Batch:
        left, right = (i.live(clock) for i in self.inputs)
        l_keys, left = _usable(self._sides[0], left)
        r_keys, right = _usable(self._sides[1], right)
        l_number, r_number = match_pairs(l_keys, r_keys)
        l_first = before(
            left.ts[l_number], left.seq[l_number], right.ts[r_number], right.seq[r_number]
        )
        pairs = _Pairs(
            np.where(l_first, right.ts[r_number], left.ts[l_number]),
            np.where(l_first, right.seq[r_number], left.seq[l_number]),
            np.minimum(left.exp[l_number], right.exp[r_number]),
            np.ones(l_number.size, np.int8),
            tuple(i[l_number] for i in left.ids) + tuple(i[r_number] for i in right.ids),
        )
        batch = self._finished(left, right, pairs)
        return batch.take(np.lexsort((batch.seq, batch.ts)))

    def _finished(self, left: Batch, right: Batch, pairs: _Pairs) -> Batch:
        shift = len(left.ids)
        cells = left.cells + tuple(
            Stored(c.source + shift, c.column) for c in right.cells if isinstance(c, Stored)
        )
        assert len(cells) == len(left.cells) + len(right.cells), "join inputs must be stored"
        batch = Batch(
            pairs.ts, pairs.seq, pairs.exp, pairs.sign, pairs.ids, left.stores + right.stores, cells
        )
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


class _Pairs:
    """Joined rows before they become a batch."""

    __slots__ = ("exp", "ids", "seq", "sign", "ts")

    def __init__(
        self, ts: Array, seq: Array, exp: Array, sign: Array, ids: tuple[Array, ...]
    ) -> None:
        self.ts, self.seq, self.exp, self.sign, self.ids = ts, seq, exp, sign, ids


def _usable(side: Side, batch: Batch) -> tuple[Array, Batch]:
    """Keys and changes without those that match nothing because their key holds a NULL."""
    keys, usable = side.keys(batch)
    if usable is None or usable.all():
        return keys, batch
    return keys[usable], batch.where(usable)


def _paired(
    asking: Batch, number: Array, ids: tuple[Array, ...], exp: Array, *, swap: bool
) -> _Pairs:
    own = tuple(i.take(number) for i in asking.ids)
    return _Pairs(
        asking.ts.take(number),
        asking.seq.take(number),
        np.minimum(asking.exp.take(number), exp),
        asking.sign.take(number),
        ids + own if swap else own + ids,
    )


def _merged(a: _Pairs, b: _Pairs) -> _Pairs:
    if a.ts.size == 0 or b.ts.size == 0:
        return b if a.ts.size == 0 else a
    to_a, to_b = merge_destinations(a.ts, a.seq, b.ts, b.seq)

    def mixed(x: Array, y: Array) -> Array:
        out = np.empty(x.size + y.size, x.dtype)
        out[to_a] = x
        out[to_b] = y
        return out

    return _Pairs(
        mixed(a.ts, b.ts),
        mixed(a.seq, b.seq),
        mixed(a.exp, b.exp),
        mixed(a.sign, b.sign),
        tuple(mixed(x, y) for x, y in zip(a.ids, b.ids, strict=True)),
    )
