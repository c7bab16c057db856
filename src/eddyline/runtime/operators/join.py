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
from typing import Final

from eddyline.kernels.pairs import merged_pairs
from eddyline.runtime.batch import Batch, Predicate
from eddyline.runtime.join_inputs.sides import Side
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.pairs import matched, meeting, side_by_side, stacked
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import Probes


class Join(Operator):
    """Emits the pairs that agree on the keys and meet the residual predicate.

    Args:
        residual: over left columns + right columns; must include the equality of the keys where
            these are hashes (see ``eddyline.runtime.stores.keys``).
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
        return meeting(side_by_side(left, right, ts, seq, exp, sign, tuple(ids)), self._residual)

    def live(self, clock: int) -> Batch:
        left, right = (i.live(clock) for i in self.inputs)
        l_keys, left = _usable(self._sides[0], left)
        r_keys, right = _usable(self._sides[1], right)
        return matched(left, l_keys, right, r_keys, self._residual)

    #: Results that have not been made, as nobody wants them.
    spared: Final = 0

    @property
    def joined(self) -> int:
        """Rows that have been joined."""
        return self.rows_in

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
        stacked(asking.ids),
        by,
        found_exp,
        stacked(found_ids),
    )
