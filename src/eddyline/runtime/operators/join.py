"""Window join of two inputs: purge, probe, insert, in exact time order.

Per chunk both inputs take in their new rows; then the changes of each input probe the other one as
of their own instant, and the two result sequences are merged::

      left changes ──▶ left rows      right rows ◀── right changes
            │              ▲               ▲               │
            └──────────────┼── probe ──────┘               │
                           └────────────── probe ──────────┘

A pair of rows of one and the same event (a self-join) meets once: changes of the right input see
the left rows including their own instant, those of the left input the right rows up to it.

With feedback the inputs have gates (``runtime/feedback``): some rows become visible in a later
chunk, and the output may hold results of instants before the chunk. A join further up takes them as
late rows of its own, which meet all rows that have come since. The results of the join on top are
never late, since a row is released before the first row that it matches there is joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from eddyline.kernels.hash_join import match_pairs
from eddyline.kernels.merge import merged_pairs
from eddyline.runtime.batch import Batch, Predicate, merge, paired, side_by_side
from eddyline.runtime.feedback.join_counts import InputCounts, JoinCounts
from eddyline.runtime.feedback.join_feedback import JoinFeedback
from eddyline.runtime.join_inputs.join_input import JoinInput
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array, order_by
from eddyline.runtime.stores.index import Probes


class Join(Operator):
    """Emits the pairs that agree on the keys and meet the residual predicate.

    Args:
        rows: the visible rows of the two inputs.
        residual: over left columns + right columns; must include the equality of the keys where
            these are hashes (see ``eddyline.runtime.stores.keys``). None: all pairs meet it.
        feedback: which rows and pairs are joined; None: all. The operators that its gates probe
            must run before the join and become further inputs.
    """

    def __init__(
        self,
        left: Operator,
        right: Operator,
        rows: tuple[JoinInput, JoinInput],
        residual: Predicate | None,
        feedback: JoinFeedback | None = None,
    ) -> None:
        super().__init__((left, right))
        self._rows = rows
        self._residual = residual
        self.feedback = feedback

    @property
    def sources(self) -> tuple[Operator, ...]:
        return self.inputs[:2]

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        late = None
        if self.feedback is None:
            l_rows, r_rows = self._rows
            (left, l_keys), (right, r_keys) = l_rows.take_in(batches[0]), r_rows.take_in(batches[1])
        else:
            late = self.feedback.let_in(batches, self.inputs, self.clock)
            (left, l_keys), (right, r_keys) = self.feedback.new_rows
        ts, seq, exp, sign, ids = merged_pairs(
            *self._matches(0, left, l_keys, right), *self._matches(1, right, r_keys, left)
        )
        out = side_by_side(left, right, ts, seq, exp, sign, tuple(ids))
        if self.feedback is not None:
            self.feedback.judge_results(tick.clock)
        return self._meeting(out if late is None else merge([late, out]))

    def _matches(self, side: int, new: Batch, keys: Array, across: Batch) -> tuple[Array, ...]:
        """The matches of one input's changes among the other's rows: as ``merged_pairs`` takes it.

        Args:
            side: of the changes. across: those of the other input.
        """
        lanes = (new.ts, new.seq, new.exp, new.sign, _stacked(new.ids))
        if self.feedback is None and not new.ts.size:
            return (*lanes, *_no_pairs(len(across.ids)))
        other = self._rows[1 - side]
        by, found = other.find(Probes(keys, new.ts, new.seq), inclusive=side == 1)
        if self.feedback is not None:
            by, found = self.feedback.required_pairs(side, by, found)
        rows = other.rows
        return (*lanes, by, rows.expiry(found), _stacked(rows.ids(found)))

    def begin(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        if self.feedback is None:
            return self.process(batches, tick)
        if (keyed := self.feedback.begin(batches, self.inputs, tick.clock)) is None:
            return self.process(batches, tick)
        return self._matched(*keyed)

    def live(self, clock: int) -> Batch:
        batches = (i.live(clock) for i in self.sources)
        left, right = (r.keyed(b) for r, b in zip(self._rows, batches, strict=True))
        return self._matched(left, right)

    def _matched(self, left: tuple[Batch, Array], right: tuple[Batch, Array]) -> Batch:
        """The pairs of rows, given with their keys, by time."""
        l_number, r_number = match_pairs(left[1], right[1])
        batch = self._meeting(paired(left[0].take(l_number), right[0].take(r_number)))
        return batch.take(order_by(batch.ts, batch.seq))

    def _meeting(self, pairs: Batch) -> Batch:
        """The pairs that meet the residual."""
        if self._residual is None or len(pairs) == 0:
            return pairs
        return pairs.where(self._residual(pairs))

    @property
    def joined(self) -> int:
        """Number of rows that have been joined."""
        return self.rows_in if self.feedback is None else self.feedback.joined

    @property
    def counts(self) -> JoinCounts:
        """Rows and results so far; without feedback all rows as those of the left input."""
        if self.feedback is None:
            all_rows = InputCounts(self.rows_in, self.rows_in)
            return JoinCounts(all_rows, InputCounts(0, 0), self.rows_out)
        left, right = self.feedback.inputs
        return JoinCounts(left.counts, right.counts, self.rows_out + self.spared)

    @property
    def spared(self) -> int:
        """Number of results that no consumer required, and that have not been made."""
        return 0 if self.feedback is None else self.feedback.spared

    @property
    def suspensions(self) -> tuple[int, int]:
        return (0, 0) if self.feedback is None else self.feedback.suspensions

    def stats(self) -> dict[str, Any]:
        return super().stats() if self.feedback is None else super().stats() | self.feedback.stats()

    def settle(self, clock: int) -> None:
        for rows in self._rows:
            rows.settle(clock)
        if self.feedback is not None:
            self.feedback.settle(clock)

    def close(self) -> None:
        for rows in self._rows:
            rows.close()
        if self.feedback is not None:
            self.feedback.close()

    @property
    def kept_in(self) -> str:
        left, right = (rows.rows.text for rows in self._rows)
        return (
            left
            if left == right
            else "; ".join(
                f"{side} input: {text}" for side, text in (("left", left), ("right", right)) if text
            )
        )

    def kept(self) -> int:
        return sum(rows.kept() for rows in self._rows)

    def state(self) -> State:
        state: State = {"left": self._rows[0].state(), "right": self._rows[1].state()}
        return state if self.feedback is None else {**state, "feedback": self.feedback.state()}

    def restore(self, state: State) -> None:
        for rows, name in zip(self._rows, ("left", "right"), strict=True):
            rows.restore(nested(state, name))
        if self.feedback is not None:
            self.feedback.restore(nested(state, "feedback"))


@cache
def _no_pairs(width: int) -> tuple[Array, Array, Array]:
    """Numbers of changes, instants and int64[width, 0] ids of no rows found."""
    return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((width, 0), np.int64)


def _stacked(ids: tuple[Array, ...]) -> Array:
    """int64[k, n]; no copy where k is 1."""
    return ids[0][np.newaxis] if len(ids) == 1 else np.stack(ids)
