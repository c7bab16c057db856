"""Lookup: the join with a non-retroactive or static table, and EXISTS and NOT EXISTS on one.

Only rows of the left input probe, each as of its own instant; a change of the table causes no
output and leaves past results as they are. So the left input is not stored::

    left changes ──── probe ───▶ table, as of each change's instant
          │                       ▲
          ▼                       │
       results             table changes
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from eddyline.kernels.hash_join import match_pairs
from eddyline.runtime.batch import Batch, Evaluator, Predicate, Stored, before, usable_rows
from eddyline.runtime.join_inputs.table_input import StaticInput, TableInput
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State
from eddyline.runtime.stores.columns import Array, order_by
from eddyline.runtime.stores.index import Probes
from eddyline.runtime.stores.keys import join_keys
from eddyline.types import BEGINNING

#: The results: pairs of rows that match, left rows with a match, left rows without one.
Kind = Literal["inner", "semi", "anti"]


class Lookup(Operator):
    """Joins left rows with the table as it was when they came; results expire with them.

    A '-' of the left input finds the matches of its row as of the instant at which the row came;
    so left rows must be stored then.

    Source: Golab and Ozsu 2005, section 4.1 (the join with an NRR).

    Args:
        right: filters and column choices over the scan of the table.
        keys: of left rows, as many as the table's input has.
        table: its rows by key.
        residual: over left columns + right columns; must include the equality of the keys where
            these are hashes (see ``eddyline.runtime.stores.keys``).
    """

    def __init__(
        self,
        left: Operator,
        right: Operator,
        keys: Sequence[Evaluator],
        table: TableInput | StaticInput,
        residual: Predicate | None,
        kind: Kind,
    ) -> None:
        super().__init__((left, right))
        self._keys = tuple(keys)
        self._table = table
        self._residual = residual
        self._kind = kind

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        left, right = batches
        self._table.take_in(right)
        left, keys, probing = self._keyed(left)
        if left.only_inserts() or isinstance(self._table, StaticInput):
            probes = Probes(keys, left.ts[probing], left.seq[probing])
            number, found = self._table.find(probes, inclusive=False)
            (match,) = self._table.rows.ids(found)
        else:
            number, match = self._as_of_births(keys, *(lane[probing] for lane in _births(left)))
        return self._results(left, right, probing[number], match)

    def _as_of_births(self, keys: Array, ts: Array, seq: Array) -> tuple[Array, Array]:
        """Numbers of the keys, ascending, and ids of their matches as of instants of any order."""
        by_birth = order_by(ts, seq)
        probes = Probes(keys[by_birth], ts[by_birth], seq[by_birth])
        number, found = self._table.find(probes, inclusive=False)
        number, (match,) = by_birth[number], self._table.rows.ids(found)
        there = np.flatnonzero(self._table.was_there(match, ts[number], seq[number]))
        there = there[np.argsort(number[there], kind="stable")]
        return number[there], match[there]

    def live(self, clock: int) -> Batch:
        left, right = (i.live(clock) for i in self.inputs)
        left, keys, probing = self._keyed(left)
        right, right_keys = self._table.keyed(right)
        number, match = match_pairs(keys, right_keys)
        number, match = probing[number], right.ids[0][match]
        there = self._table.was_there(match, left.ts[number], left.seq[number])
        return self._results(left, right, number[there], match[there])

    def _keyed(self, left: Batch) -> tuple[Batch, Array, Array]:
        """The left rows whose keys can be computed; keys and numbers of those that can match."""
        left, columns = usable_rows(left, self._keys)
        keys, usable = join_keys(columns, len(left))
        if usable is None:
            return left, keys, np.arange(len(left))
        return left, keys[usable], np.flatnonzero(usable)

    def _results(self, left: Batch, right: Batch, number: Array, match: Array) -> Batch:
        """The results if the left rows ``number`` (ascending) match the table's rows ``match``.

        Args:
            right: a batch of the table, for its layout.
        """
        probing = left.take(number)
        shift = len(left.ids)
        cells = [Stored(shift, c.column) for c in right.cells if isinstance(c, Stored)]
        assert len(cells) == len(right.cells), "a table's columns are in its store"
        pairs = replace(
            probing,
            ids=(*probing.ids, match),
            stores=left.stores + right.stores,
            cells=probing.cells + tuple(cells),
            pair=None,
            _gathered={},
        )
        met = None if self._residual is None or len(pairs) == 0 else self._residual(pairs)
        if self._kind == "inner":
            return pairs if met is None else pairs.where(met)
        matched = np.zeros(len(left), np.bool_)
        matched[number if met is None else number[met]] = True
        return left.where(matched if self._kind == "semi" else ~matched)

    def settle(self, clock: int) -> None:
        self._table.settle(clock)

    def close(self) -> None:
        self._table.close()

    def state(self) -> State:
        return self._table.state()

    def restore(self, state: State) -> None:
        self._table.restore(state)


def _births(batch: Batch) -> tuple[Array, Array]:
    """When the rows came: for a '+' that is the change's own (ts, seq), for a '-' earlier."""
    leaving = np.flatnonzero(batch.sign < 0)
    if leaving.size == 0:
        return batch.ts, batch.seq
    born_ts = np.full(leaving.size, BEGINNING, np.int64)
    born_seq = np.zeros(leaving.size, np.int64)
    for ids, store in zip(batch.ids, batch.stores, strict=True):
        assert store is not None, "a lookup by a '-' needs its row in a store"
        positions = store.positions(ids[leaving])
        part_ts, part_seq = (store.lane_at(lane, positions) for lane in ("ts", "seq"))
        later = before(born_ts, born_seq, part_ts, part_seq)
        born_ts = np.where(later, part_ts, born_ts)
        born_seq = np.where(later, part_seq, born_seq)
    ts, seq = batch.ts.copy(), batch.seq.copy()
    ts[leaving], seq[leaving] = born_ts, born_seq
    return ts, seq
