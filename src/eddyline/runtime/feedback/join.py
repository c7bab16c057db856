"""A window join that makes only what its consumers can use.

Each input has a *gate*. Rows of the input that a consumer further up has no match for wait before
it: the join does not see them, so nothing is made of them. When a match comes they are let through
*late*, and what would have been made of them meanwhile, and is still alive, is made now::

      left rows ─▶ gate ─▶ left index      right index ◀─ gate ◀─ right rows
                    ▲            ▲              ▲           ▲
           rows that consumers   └──── probe ───┘    rows that consumers
           join the left with                        join the right with

So the output may hold results of instants before the chunk. A join further up takes them as late
rows of its own: they meet all the rows that have come since. Results of the join on top are never
late, since whoever waits is let through before the first row that it matches there is joined. Those
of one and the same row come in no particular order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from eddyline.kernels.pairs import merged_pairs
from eddyline.runtime.batch import EXPIRY, Batch, Predicate, merge
from eddyline.runtime.feedback.combinations import Combinations
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.feedback.inputs import Before, Coming, Input
from eddyline.runtime.join_inputs.findable import Findable
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.pairs import matched, meeting, paired, side_by_side, stacked
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import Probes
from eddyline.types import BEGINNING

_NO_ROWS = np.zeros(0, np.int64)

#: Positions of left rows and of right ones, pair by pair.
Pairs: TypeAlias = tuple[Array, Array]


class FeedbackJoin(Operator):
    """Emits the pairs that agree on the keys, meet the residual, and are wanted.

    Args:
        left, right: its inputs are their ``Kept``; who else must have run before it, since the
            gates ask there, becomes an input as well.
        residual: as of ``Join``.

    Attributes:
        combinations: which results the only reader wants; None: all.
    """

    def __init__(self, left: Input, right: Input, residual: Predicate | None) -> None:
        super().__init__((left.rows.kept, right.rows.kept))
        self.sides = (left, right)
        self.combinations: Combinations | None = None
        self._residual = residual
        self._seen = (BEGINNING, EXPIRY)

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        before = Before(self.clock, *self._seen)
        left, right = (
            side.coming(batch, before) for side, batch in zip(self.sides, batches[:2], strict=True)
        )
        resumed = self._resumed(batches, left, right, before)
        late = self._late_results(left, right, before, resumed)
        new = self._new_results(left, right)
        for batch in batches[:2]:
            if len(batch):
                self._seen = max(self._seen, (int(batch.ts[-1]), int(batch.seq[-1])))
        out = new if late is None else merge([late, new])
        return meeting(out, self._residual)

    def begin(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (left, l_keys), (right, r_keys) = (
            side.begin(batch) for side, batch in zip(self.sides, batches[:2], strict=True)
        )
        if self.combinations is not None:
            matches = batches[self.inputs.index(self.combinations.matches)]
            self.combinations.begin(matches, tick.clock)
        for batch in batches[:2]:
            if len(batch):
                self._seen = max(self._seen, (int(batch.ts[-1]), int(batch.seq[-1])))
        return matched(left, l_keys, right, r_keys, self._residual)

    def _resumed(
        self, batches: Sequence[Batch], left: Coming, right: Coming, before: Before
    ) -> Pairs:
        """Earlier combinations that are wanted now."""
        if self.combinations is None:
            return _NO_ROWS, _NO_ROWS
        for side in self.sides:
            side.rows.link(_NO_ROWS, _NO_ROWS)  # nothing in it is of this chunk
        if self.combinations.ending:
            missed = self.combinations.all_missed(before.clock, before.probes)
            self._end_combinations()
            return missed
        matches = batches[self.inputs.index(self.combinations.matches)]
        resumed = self.combinations.resume(matches, before.clock, before.probes)
        for number, coming in enumerate((left, right)):
            for positions in (coming.late, coming.new):
                self.combinations.see(number, positions, before.clock)
        return resumed

    def _end_combinations(self) -> None:
        if self.combinations is not None:
            self.combinations.close()
            self.combinations = None

    def _late_results(
        self, left: Coming, right: Coming, before: Before, resumed: Pairs
    ) -> Batch | None:
        """What late rows make with each other, and with the rows from before the chunk."""
        if left.late.size == right.late.size == resumed[0].size == 0:
            return None
        l_side, r_side = self.sides
        r_side.rows.link(_NO_ROWS, _NO_ROWS)  # nothing in it is of this chunk
        l_late, r_found = l_side.meet(left.late, left.late_keys, r_side, before)
        r_late, l_found = r_side.meet(right.late, right.late_keys, l_side, before)
        l_at, r_at = np.concatenate((l_late, l_found)), np.concatenate((r_found, r_late))
        wanted = self._wanted(l_at, r_at)
        return self._by_time(
            np.concatenate((l_at[wanted], resumed[0])), np.concatenate((r_at[wanted], resumed[1]))
        )

    def _wanted(self, l_at: Array, r_at: Array) -> Array:
        """bool[n]: which combinations, of this chunk, the reader wants."""
        if self.combinations is None:
            return np.ones(l_at.size, np.bool_)
        return self.combinations.judge(l_at, r_at, self.clock)

    def _by_time(self, l_at: Array, r_at: Array) -> Batch:
        """The pairs of rows at these positions."""
        l_side, r_side = self.sides
        batch = paired(l_side.rows.kept.rows_at(l_at), r_side.rows.kept.rows_at(r_at))
        return batch.take(np.lexsort((batch.seq, batch.ts)))

    def _new_results(self, left: Coming, right: Coming) -> Batch:
        """What the chunk's rows make with all that came before them."""
        l_side, r_side = self.sides
        l_side.rows.insert(left.new, left.keys)
        r_side.rows.insert(right.new, right.keys)
        ts, seq, exp, sign, ids = merged_pairs(
            *_pairs(left, r_side.rows, *self._find(l_side, left, r_side, inclusive=False)),
            *_pairs(right, l_side.rows, *self._find(r_side, right, l_side, inclusive=True)),
        )
        return side_by_side(left.batch, right.batch, ts, seq, exp, sign, tuple(ids))

    def _find(
        self, side: Input, coming: Coming, other: Input, *, inclusive: bool
    ) -> tuple[Array, Array]:
        """Numbers of the new rows of one side, and positions of the rows that they meet."""
        probes = Probes(coming.keys, coming.batch.ts, coming.batch.seq)
        by, found = other.rows.find(probes, inclusive=inclusive)
        if self.combinations is None:
            return by, found
        asking = coming.new[by]
        is_left = side is self.sides[0]
        wanted = self._wanted(asking, found) if is_left else self._wanted(found, asking)
        return (by, found) if wanted.all() else (by[wanted], found[wanted])

    def live(self, clock: int) -> Batch:
        batches = [i.live(clock) for i in self.inputs[:2]]
        keys = []
        for n, side in enumerate(self.sides):
            k, usable = side.rows.keys(batches[n])
            if usable is not None:
                k, batches[n] = k[usable], batches[n].where(usable)
            keys.append(k)
        return matched(batches[0], keys[0], batches[1], keys[1], self._residual)

    @property
    def gates(self) -> tuple[Gate, ...]:
        """Those of its inputs, if it has any."""
        return tuple(side.gate for side in self.sides if side.gate is not None)

    @property
    def joined(self) -> int:
        """Rows that have been let through."""
        return sum(side.joined for side in self.sides)

    @property
    def spared(self) -> int:
        """Results that have not been made."""
        combinations = self.combinations
        return 0 if combinations is None else combinations.refused - combinations.resumed

    def stats(self) -> dict[str, Any]:
        feedback = [gate.stats() for gate in self.gates]
        if self.combinations is not None:
            feedback.append(self.combinations.stats())
        return {**super().stats(), "feedback": feedback}

    def settle(self, clock: int) -> None:
        if self.combinations is not None:
            self.combinations.settle(clock)

    def close(self) -> None:
        for side in self.sides:
            side.close()
        self._end_combinations()

    @property
    def sources(self) -> tuple[Operator, ...]:
        return self.inputs[:2]

    def state(self) -> State:
        left, right = (side.state() for side in self.sides)
        out: dict[str, State | Array] = {"left": left, "right": right, "seen": np.array(self._seen)}
        if self.combinations is not None:
            out["combinations"] = self.combinations.state()
        return out

    def restore(self, state: State) -> None:
        ts, seq = (int(v) for v in array(state, "seen"))
        self._seen = ts, seq
        for side, name in zip(self.sides, ("left", "right"), strict=True):
            side.restore(nested(state, name))
        if "combinations" not in state:
            self._end_combinations()
        elif self.combinations is not None:
            self.combinations.restore(nested(state, "combinations"))


def _pairs(
    coming: Coming, other: Findable, by: Array, positions: Array
) -> tuple[Array, Array, Array, Array, Array, Array, Array, Array]:
    """What the new rows of one input meet on the other side, as ``merged_pairs`` takes it."""
    batch, rows = coming.batch, other.kept.rows
    asking = (batch.ts, batch.seq, batch.exp, batch.sign, stacked(batch.ids))
    return (*asking, by, rows.expiry(positions), stacked(rows.ids(positions)))
