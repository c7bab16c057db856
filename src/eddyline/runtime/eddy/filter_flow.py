"""Queries over one source: grouped filters over all their predicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.flow import Flow, Held, Member
from eddyline.runtime.eddy.lineages import NONE as NO_LINEAGE
from eddyline.runtime.eddy.lineages import Lineages
from eddyline.runtime.eddy.policies import Policy
from eddyline.runtime.failures import Failure, collecting, report
from eddyline.runtime.join_inputs.flow_windows import FlowRows, FlowWindow
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.predicates.filter_bank import FilterBank
from eddyline.runtime.recipients import Recipients, recipients_of
from eddyline.runtime.screens import Screen
from eddyline.runtime.stores.columns import Array
from eddyline.types import FOREVER


class FilterFlow(Flow):
    """Emits the rows of its source that satisfy the predicates of some query.

    Queries for which the same rows qualify may be listed once (``list_once``): then the recipients
    of a row include one of them only, whatever their windows. Of those that are dormant in a
    reader's ``lineages`` no recipients are listed; the recipients have the lineages' numbers.
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
        self._newest: tuple[int, Member] | None = None  # the last query, if it is there
        self._alike: dict[tuple[object, object], set[int]] = {}  # bits of queries: one is listed
        self._alike_of: dict[int, tuple[object, object]] = {}  # by bit, which of these it is in
        self._several: dict[tuple[object, object], None] = {}  # those with several bits
        self._lineages: dict[object, Lineages] = {}  # by owner

    def admit(self, member: Member) -> int:
        bit = super().admit(member)
        self._newest = bit, member
        return bit

    def list_once(self, owner: object, bit: int) -> Held:
        """List a query only if it is the first one of this owner for which these rows qualify."""
        member = self._members[bit]
        key = owner, member.accepts
        bits = self._alike.setdefault(key, set())
        bits.add(bit)
        if len(bits) > 1:
            self._several[key] = None
        self._alike_of[bit] = key
        self._changed = True
        return member

    def number_lineages(self, owner: object, lineages: Lineages | None) -> None:
        """From the next rows on number the lineages of the queries of this owner; None: no more."""
        if lineages is None:
            del self._lineages[owner]
        else:
            self._lineages[owner] = lineages
        self._changed = True

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
            bits = self._alike[key]
            bits.remove(bit)
            if len(bits) == 1:
                self._several.pop(key, None)
            elif not bits:
                del self._alike[key]
        super().dismiss(bit)

    def asks_for(self, source: Operator) -> Screen | None:
        self._refresh()
        return self._screen

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        self._refresh()
        self._banks[0].settle()
        with collecting() as failures:
            out = self._filtered(batches[0], self._mask, numbered=bool(self._lineages))
        for failure in failures:
            report(self.of_all(failure))
        return out

    def again(self, batch: Batch) -> Batch:
        """The rows of the last batch, after some queries have been dormant."""
        with collecting():  # what fails has been reported
            return self._filtered(batch, self._mask, numbered=bool(self._lineages))

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
            is_listed = np.zeros(self.width, np.bool_)
            is_listed[self._members.bits] = True
            self._listed = np.arange(self.width)
            for key in self._several:
                bits = np.array(sorted(self._alike[key]))
                alike = bits[is_listed[bits]]
                if alike.size:
                    self._listed[alike] = alike[0]
                    is_listed[alike[1:]] = False
            self._mask = self._members.lineage(np.flatnonzero(is_listed))
            for owner, lineages in self._lineages.items():
                listed = set(np.flatnonzero(is_listed).tolist())
                mine = ((a, bits & listed) for (o, a), bits in self._alike.items() if o is owner)
                lineages.fit({a: min(bits) for a, bits in mine if bits}, self._members.words)
            self._screen = None if self.has_windows else self._banks[0].screen(self._mask)

    def _results(self, clock: int, bits: Sequence[int]) -> Batch:
        if self._newest is not None and list(bits) == [self._newest[0]]:
            return self._answer_of(*self._newest, clock)
        self._refresh()
        return self._filtered(self.inputs[0].live(clock), self._members.lineage(bits))

    def _answer_of(self, bit: int, member: Member, clock: int) -> Batch:
        """The results of the query that was added last, whatever the number of the others."""
        batch = self.inputs[0].live(clock)
        make = member.predicates[0]
        with collecting() as failures:
            wanted = np.ones(len(batch), np.bool_) if make is None else make()(batch)
        rows = self._rows_of(bit, member, batch) if failures else np.flatnonzero(wanted)
        starts = np.zeros(self.width + 1, np.int64)
        starts[bit + 1 :] = rows.size
        exp = batch.exp[rows]
        if self._stem_windows:
            exp = np.minimum(exp, batch.ts[rows] + self._members.lengths[0][bit])
        return batch.sent_to(Recipients(rows, starts, np.minimum(exp, FOREVER)))

    def _rows_of(self, bit: int, member: Member, batch: Batch) -> Array:
        """The rows that satisfy its predicates. For some of the others these fail."""
        bank, one = FilterBank(self._new_policy()), np.ones(1, np.uint64)
        bank.add(0, member.filters[0])
        with collecting() as failures:
            rows = recipients_of(batch.exp, bank.blocks(batch, one), 1, ()).rows
        for failure in failures:
            if failure.bits is not None:
                report(replace(failure, bits=np.where(failure.bits == 0, bit, failure.bits)))
        return rows

    def _filtered(self, batch: Batch, mask: Array, *, numbered: bool = False) -> Batch:
        """Rows with the queries in ``mask`` whose predicates they satisfy, and with the numbers of
        their lineages instead of those that are dormant.
        """
        instants = [(batch.ts, self._members.lengths[0])] if self._stem_windows else []
        bank, width = self._banks[0], self._members.width
        pairs: list[tuple[Array, Array]] = []
        blocks: Iterator[tuple[Array, Array]] = iter(())
        numbers = {}
        if len(batch):
            pairs, blocks = list(bank.pairs(batch, mask)), bank.blocks(batch, mask)
        if numbered:
            for owner, lineages in self._lineages.items():
                lineages.leave_out(bank.boxed(mask.size))
                numbers[owner] = np.full(len(batch), NO_LINEAGE)
            blocks = self._numbered(blocks, numbers)
        to = recipients_of(batch.exp, blocks, width, instants, pairs)
        to.lineages = numbers
        return batch.sent_to(to)

    def _numbered(
        self, blocks: Iterator[tuple[Array, Array]], numbers: dict[object, Array]
    ) -> Iterator[tuple[Array, Array]]:
        """The same blocks without the queries that are dormant; the numbers of lineages are put
        into these arrays, int64[n] by owner.
        """
        listed = np.full(self._members.words, -1, np.int64).view(np.uint64)
        for lineages in self._lineages.values():
            listed &= ~lineages.dormant_mask
        for rows, lineage in blocks:
            for owner, lineages in self._lineages.items():
                numbers[owner][rows] = lineages.number(lineage)
            lineage &= listed
            yield rows, lineage
