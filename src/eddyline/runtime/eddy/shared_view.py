"""The materialised answers of queries of a flow, for those with the same select list.

Every result is there once, with the number of its lineage: the queries that have it::

    exp    ts    seq    lineage    ids    when its rows came
    9 s    2 s   5      {q1, q2}   7, 3   1 s, 2 s

``exp`` is the last instant at which one of them has it. When it leaves the answer of a single one
follows from the lengths of that query's windows. Where results are taken back, as by windows of
rows, each query has an entry of its own, which its '-' cancels.

What is here follows from what the flow holds, so it is not in checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from eddyline.kernels.lineage import any_wanted
from eddyline.runtime.batch import Batch, empty_like
from eddyline.runtime.eddy.flow import Flow
from eddyline.runtime.join_inputs.lineage_sets import EMPTY, LineageSets
from eddyline.runtime.recipients import Recipients, recipients_of
from eddyline.runtime.stores.answers import LazyAnswerList
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.expiry import uncancelled

#: The lane of the numbers of lineages, and the first one of the ids.
_NUMBER: Final = 3
_IDS: Final = 4
#: This number of lineages, used or not, is kept in any case.
_FEW: Final = 64


class SharedView:
    """Keeps the results that are in the answers of some queries of a flow.

    Args:
        takes_back: whether results are taken back.
    """

    def __init__(self, flow: Flow, *, takes_back: bool) -> None:
        self._flow = flow
        self._takes_back = takes_back
        self._bits: set[int] = set()
        self._mask = np.zeros(1, np.uint64)
        self._sets = LineageSets()
        self._most_sets = _FEW
        self._layout: Batch | None = None  # without rows; None: there were none
        self._store: LazyAnswerList | None = None  # None: as before

    def __len__(self) -> int:
        """How many results there are, among them perhaps some that have expired."""
        return 0 if self._store is None else len(self._store)

    @property
    def members(self) -> int:
        """Number of queries whose answers are here."""
        return len(self._bits)

    # -- queries -------------------------------------------------------

    def admit(self, bits: Sequence[int], clock: int) -> None:
        """Keep the answers of these queries as well: first what the flow holds for them."""
        self._bits.update(bits)
        self._widen()
        self._mask |= self._lineage(bits)
        if self._flow.holds_rows():
            self._add(self._flow.answer(clock, bits), clock)

    def dismiss(self, bit: int) -> None:
        """Forget the answer of a query: another one may get its bit."""
        self._bits.discard(bit)
        self._widen()
        for lineage in (self._sets.array, self._mask):
            lineage[..., bit >> 6] &= ~np.uint64(1 << (bit & 63))

    def _widen(self) -> None:
        """Let lineages have as many words as those of the flow."""
        words = self._flow.width // 64
        if self._mask.size != words:
            self._sets.widen(words)
            self._mask = np.pad(self._mask, (0, words - self._mask.size))

    def _lineage(self, bits: Iterable[int]) -> Array:
        chosen = np.zeros(self._flow.width, np.bool_)
        chosen[list(bits)] = True
        return np.packbits(chosen, bitorder="little").view(np.uint64)

    # -- results -------------------------------------------------------

    def keep(self, batch: Batch) -> None:
        """Apply results of the flow, for the queries that get them."""
        if self._bits:
            self._widen()
            self._add(batch, self._flow.clock)

    def rebuild(self, clock: int) -> None:
        """Keep what the flow holds, after it has been restored from a checkpoint."""
        self._store = self._layout = None
        self.admit(sorted(self._bits), clock)

    def _add(self, batch: Batch, clock: int) -> None:
        to = batch.recipients
        assert to is not None, "set by the flow"
        mine = np.unpackbits(self._mask.view(np.uint8), bitorder="little").astype(np.bool_)
        if to.counts()[~mine[: to.width]].any():  # others have all that has ever passed
            to = to.of_queries(mine[: to.width])
        lanes = self._one_by_one(batch, to) if self._takes_back else self._once(batch, to)
        if self._store is None:
            self._layout = replace(empty_like(batch), pair=None)
            self._store = LazyAnswerList(len(lanes), self._left)
        self._store.push(lanes, clock)
        if len(self._sets) > self._most_sets:
            self._sets.forget(self._store.rows()[_NUMBER])
            self._most_sets = 2 * len(self._sets) + _FEW

    def _once(self, batch: Batch, to: Recipients) -> list[Array]:
        """Results, each once."""
        index, lineage = to.lineage(len(batch), self._mask.size)
        number = self._sets.numbers(lineage)[index]
        some = np.flatnonzero(number != EMPTY)
        came = [ts for ts, _ in self._flow.lives(batch)]
        lanes = [to.last_exp(len(batch)), batch.ts, batch.seq, number, *batch.ids, *came]
        return [lane.take(some) for lane in lanes]

    def _one_by_one(self, batch: Batch, to: Recipients) -> list[Array]:
        """Results, each once per query that gets it."""
        having = np.flatnonzero(to.counts())
        alone = np.zeros((having.size, self._mask.size), np.uint64)
        bit = np.uint64(1) << (having & 63).astype(np.uint64)
        alone[np.arange(having.size), having >> 6] = bit
        numbers = np.zeros(to.width, np.int64)
        numbers[having] = self._sets.numbers(alone)
        lanes = [batch.ts, batch.seq, *batch.ids, batch.sign.astype(np.int64)]
        ts, seq, *more = (lane.take(to.rows) for lane in lanes)
        return [to.exp, ts, seq, numbers[to.query], *more]

    def _left(self, lanes: Array) -> Array:
        """The numbers of entries that are for some query, and that no '-' has cancelled."""
        some = np.flatnonzero(any_wanted(self._sets.array)[lanes[_NUMBER]])
        if not self._takes_back:
            return some
        *identity, sign = lanes[_NUMBER:, some]
        return some[uncancelled(np.zeros(some.size, np.int64), sign, identity)]

    # -- answers -------------------------------------------------------

    def answer(self, clock: int, bits: Sequence[int]) -> Batch:
        """The results that are in the answers of some queries at ``clock``, with these queries."""
        if self._store is None or self._layout is None:
            return empty_like(self._flow.answer(clock, bits[:1])).sent_to(self._no_recipients())
        exp, ts, seq, number, *more = self._store.rows()
        rows, required = self._sets.required_by(number, self._lineage(bits))
        alive = np.flatnonzero(exp[rows] > clock)
        order = alive[np.lexsort((seq[rows[alive]], ts[rows[alive]]))]
        rows, required = rows[order], required[order]
        ids = len(self._layout.ids)
        batch = replace(
            self._layout,
            ts=ts[rows],
            seq=seq[rows],
            exp=exp[rows],
            sign=np.ones(rows.size, np.int8),
            ids=tuple(lane[rows] for lane in more[:ids]),
            _gathered={},
        )
        lengths = [] if self._takes_back else [us for _, us in self._flow.lives(self._layout)]
        lives = [(came[rows], us) for came, us in zip(more[ids:], lengths, strict=False)]
        blocks = [(np.arange(rows.size), required)]
        to = recipients_of(batch.exp, blocks, self._flow.width, lives)
        return batch.sent_to(to.only(to.exp > clock))

    def _no_recipients(self) -> Recipients:
        nothing = np.zeros(0, np.int64)
        return Recipients(nothing, np.zeros(self._flow.width + 1, np.int64), nothing)

    @property
    def kept_in(self) -> str:
        """For EXPLAIN ANALYZE: where results are."""
        return LazyAnswerList.text
