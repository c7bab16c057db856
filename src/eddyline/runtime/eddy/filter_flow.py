"""Queries over one source: grouped filters over all their predicates."""

from __future__ import annotations

from collections.abc import Sequence

from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.flow import Flow
from eddyline.runtime.operators.base import Tick
from eddyline.runtime.recipients import recipients_of
from eddyline.runtime.stores.columns import Array


class FilterFlow(Flow):
    """Emits the rows of its source that satisfy the predicates of some query."""

    _mask: Array  # uint64[W], all queries

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        self._refresh()
        return self._filtered(batches[0], self._mask)

    def _refresh(self) -> None:
        if self._changed:
            self._fit_windows()
            self._mask = self._members.lineage(self._members.bits)

    def _results(self, clock: int, bits: Sequence[int]) -> Batch:
        self._refresh()
        return self._filtered(self.inputs[0].live(clock), self._members.lineage(bits))

    def _filtered(self, batch: Batch, mask: Array) -> Batch:
        """Rows with the queries in ``mask`` whose predicates they satisfy."""
        instants = [(batch.ts, self._members.lengths[0])] if self._stem_windows else []
        blocks = self._banks[0].blocks(batch, mask)
        return batch.sent_to(recipients_of(batch.exp, blocks, self._members.width, instants))
