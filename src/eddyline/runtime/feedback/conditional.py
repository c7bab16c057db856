"""Rows that are wanted by a condition: any comparison, besides or instead of equal keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator, Predicate, paired
from eddyline.runtime.feedback.match_probe import Found, RowsAt, Waiting
from eddyline.runtime.feedback.partners import Partners
from eddyline.runtime.join_inputs.buffer import Kept
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import join_keys


class ConditionalPartner:
    """A row of one input that agrees on the keys, if any, and with which a condition is met.

    Without keys all rows of the input are tried, newest first, until one will do (nested loops).
    Who waits is compared with nothing but the rows that have come since.

    Source: Yang and Papadias 2008, section IV-A: components match by any predicate.

    Args:
        condition: over the columns of who asks, and then those of ``kept``.
    """

    def __init__(
        self, keys: Sequence[Evaluator], partners: Partners, kept: Kept, condition: Predicate
    ) -> None:
        self._keys = tuple(keys)
        self._partners = partners
        self._kept = kept
        self._condition = condition
        self.acquire()

    def acquire(self) -> None:
        self._partners.acquire()

    def release(self) -> None:
        self._partners.release()

    def close(self) -> None:
        self._partners.let_go()

    def fresh(self) -> Array:
        return np.unique(self._partners.fresh)

    def keys_of(self, rows: Batch) -> tuple[Array, Array | None]:
        return join_keys([k(rows) for k in self._keys], len(rows))

    def find(self, rows: Batch, ts: Array) -> Found:
        keys, usable = self.keys_of(rows)
        return Found(self._met(rows, keys, usable, ts, fresh=False), keys, usable)

    def still_waiting(self, rows_at: RowsAt, positions: Array, clock: int) -> Waiting | None:
        if positions.size == 0:
            return None
        rows = rows_at(positions)
        keys, usable = self.keys_of(rows)
        met = self._met(rows, keys, usable, np.full(len(rows), clock), fresh=True)
        waiting = np.flatnonzero(~met & (rows.exp > clock))
        waiting = waiting[np.argsort(positions[waiting])]  # the oldest first: quick to put back
        return Waiting(waiting, keys[waiting])

    def _met(
        self, rows: Batch, keys: Array, usable: Array | None, ts: Array, *, fresh: bool
    ) -> Array:
        """bool[n]: for which rows there is one."""

        def pairs(by: Array, positions: Array) -> Array:
            return self._condition(paired(rows.take(by), self._kept.rows_at(positions)))

        met = np.zeros(len(rows), np.bool_)
        asking = np.arange(len(rows)) if usable is None else np.flatnonzero(usable)
        met[asking] = self._partners.meet(
            keys[asking], ts[asking], lambda by, at: pairs(asking[by], at), fresh=fresh
        )
        return met
