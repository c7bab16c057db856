"""Probes for matches by a condition: any comparison, besides or instead of equal keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator, Predicate, paired
from eddyline.runtime.feedback.key_index import KeyIndex
from eddyline.runtime.feedback.match_probe import KeyProbe, Matches, RowsAt, Unmatched
from eddyline.runtime.join_inputs.buffer import InputBuffer
from eddyline.runtime.stores.columns import Array, unique


class ConditionProbe(KeyProbe):
    """Probes for a row of one input with equal keys, if any, and with which a condition holds.

    Without keys all rows of the input are tried, newest first, until one matches (nested loops).
    Suspended rows are compared with the chunk's rows only.

    Source: Yang and Papadias 2008, section IV-A: components match by any predicate.

    Args:
        keys: over the rows that probe. rows: those of ``buffer`` by key.
        condition: over the columns of the rows that probe, and then those of ``buffer``.
    """

    def __init__(
        self,
        keys: Sequence[Evaluator],
        rows: KeyIndex,
        buffer: InputBuffer,
        condition: Predicate,
    ) -> None:
        super().__init__(keys, rows)
        self._index = rows
        self._buffer = buffer
        self._condition = condition

    def fresh(self) -> Array:
        return unique(self._index.fresh)

    def find(self, rows: Batch, ts: Array) -> Matches:
        keys, usable = self.keys_of(rows)
        return Matches(self._met(rows, keys, usable, ts, fresh=False), keys, usable)

    def unmatched(self, rows_at: RowsAt, positions: Array, clock: int) -> Unmatched | None:
        if positions.size == 0:
            return None
        rows = rows_at(positions)
        keys, usable = self.keys_of(rows)
        met = self._met(rows, keys, usable, np.full(len(rows), clock), fresh=True)
        unmatched = np.flatnonzero(~met & (rows.exp > clock))
        unmatched = unmatched[np.argsort(positions[unmatched])]  # oldest first: cheap to link again
        return Unmatched(unmatched, keys[unmatched])

    def _met(
        self, rows: Batch, keys: Array, usable: Array | None, ts: Array, *, fresh: bool
    ) -> Array:
        """bool[n]: which rows have a match."""

        def pairs(by: Array, positions: Array) -> Array:
            return self._condition(paired(rows.take(by), self._buffer.rows_at(positions)))

        met = np.zeros(len(rows), np.bool_)
        probing = np.arange(len(rows)) if usable is None else np.flatnonzero(usable)
        met[probing] = self._index.meet(
            keys[probing], ts[probing], lambda by, at: pairs(probing[by], at), fresh=fresh
        )
        return met
