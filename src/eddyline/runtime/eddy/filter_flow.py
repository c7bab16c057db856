"""Queries over one source: grouped filters over all their predicates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.flow import Flow
from eddyline.runtime.eddy.members import Held, Member
from eddyline.runtime.eddy.policies import Policy
from eddyline.runtime.failures import Failure, collecting, report
from eddyline.runtime.join_inputs.flow_windows import FlowRows, FlowWindow
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.predicates.filter_bank import Clause, FilterBank
from eddyline.runtime.recipients import Recipients, recipients_of
from eddyline.runtime.screens import Screen
from eddyline.runtime.stores.columns import Array


class FilterFlow(Flow):
    """Emits the rows of its source that satisfy the predicates of some query.

    Queries for which the same rows qualify may be listed once (``list_once``): then the recipients
    of a row include one of them only, whatever their windows.
    """

    _mask: Array  # uint64[W], all queries that are listed
    _listed: Array  # int64 by bit, the query that is listed for it
    _screen: Screen | None  # what these accept; of rows that have no windows of queries

    def __init__(
        self,
        sources: Sequence[Operator],
        windows: Sequence[FlowWindow | FlowRows],
        new_policy: Callable[[], Policy],
    ) -> None:
        super().__init__(sources, windows, new_policy)
        self._banks = [FilterBank(new_policy(), boxed=True)]
        self._new_policy = new_policy
        self._newest: tuple[int, Sequence[Clause]] | None = None  # the last query, if it is there
        self._alike: dict[object, set[int]] = {}  # bits of queries of which one is listed
        self._alike_of: dict[int, object] = {}  # by bit, which of these it is in

    def admit(self, member: Member) -> int:
        bit = super().admit(member)
        self._newest = bit, member.filters[0]
        return bit

    def list_once(self, owner: object, bit: int) -> Held:
        """List a query only if it is the first one of this owner for which these rows qualify."""
        member = self._members[bit]
        key = owner, member.accepts
        self._alike.setdefault(key, set()).add(bit)
        self._alike_of[bit] = key
        self._changed = True
        return member

    def window_of(self, bit: int) -> int:
        """How long rows live for a query, in microseconds."""
        return self._members[bit].windows[0]

    @property
    def has_windows(self) -> bool:
        """Whether rows live as long as each query's own window."""
        return bool(self._stem_windows)

    def dismiss(self, bit: int) -> None:
        if self._newest is not None and self._newest[0] == bit:
            self._newest = None
        key = self._alike_of.pop(bit, None)
        if key is not None:
            self._alike[key].remove(bit)
            if not self._alike[key]:
                del self._alike[key]
        super().dismiss(bit)

    def asks_for(self, source: Operator) -> Screen | None:
        self._refresh()
        return self._screen

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        self._refresh()
        with collecting() as failures:
            out = self._filtered(batches[0], self._mask)
        for failure in failures:
            report(self.of_all(failure))
        return out

    def counts(self, recipients: Recipients) -> Array:
        listed = super().counts(recipients)
        return listed[self._listed[: listed.size]] if self._alike else listed

    def of_all(self, failure: Failure) -> Failure:
        """Rows that failed for queries, also for those for which these are listed."""
        if not self._alike or failure.bits is None or not failure.rows.size:
            return failure
        by_listed = np.argsort(self._listed, kind="stable")
        first, last = (
            np.searchsorted(self._listed[by_listed], failure.bits, side)
            for side in ("left", "right")
        )
        counts = np.where(failure.bits < 0, 1, last - first)
        places = np.repeat(np.arange(counts.size), counts)
        nth = np.arange(places.size) - np.repeat(np.cumsum(counts) - counts, counts)
        bits = failure.bits[places]
        known = bits >= 0
        bits[known] = by_listed[(first[places] + nth)[known]]
        return failure.of_queries(places, bits)

    def _refresh(self) -> None:
        if self._changed:
            self._fit_windows()
            members = set(self._members.bits)
            self._listed = np.arange(self.width)
            for bits in self._alike.values():
                if len(bits) == 1:
                    continue
                alike = sorted(bits & members)
                if alike:
                    self._listed[alike] = alike[0]
                    members.difference_update(alike[1:])
            self._mask = self._members.lineage(members)
            self._screen = None if self.has_windows else self._banks[0].screen(self._mask)

    def _results(self, clock: int, bits: Sequence[int]) -> Batch:
        if self._newest is not None and list(bits) == [self._newest[0]]:
            return self._answer_of(*self._newest, clock)
        self._refresh()
        return self._filtered(self.inputs[0].live(clock), self._members.lineage(bits))

    def _answer_of(self, bit: int, clauses: Sequence[Clause], clock: int) -> Batch:
        """The results of the query that was added last, whatever the number of the others."""
        batch = self.inputs[0].live(clock)
        bank, one = FilterBank(self._new_policy()), np.ones(1, np.uint64)
        bank.add(0, clauses)
        instants = [(batch.ts, self._members.lengths[0][bit : bit + 1])]
        with collecting() as failures:
            alone = recipients_of(
                batch.exp, bank.blocks(batch, one), 1, instants if self._stem_windows else []
            )
        for failure in failures:
            if failure.bits is not None:
                report(replace(failure, bits=np.where(failure.bits == 0, bit, failure.bits)))
        starts = np.zeros(self.width + 1, np.int64)
        starts[bit + 1 :] = alone.rows.size
        return batch.sent_to(Recipients(alone.rows, starts, alone.exp))

    def _filtered(self, batch: Batch, mask: Array) -> Batch:
        """Rows with the queries in ``mask`` whose predicates they satisfy."""
        instants = [(batch.ts, self._members.lengths[0])] if self._stem_windows else []
        pairs, blocks = self._banks[0].pairs(batch, mask), self._banks[0].blocks(batch, mask)
        width = self._members.width
        return batch.sent_to(recipients_of(batch.exp, blocks, width, instants, pairs))
