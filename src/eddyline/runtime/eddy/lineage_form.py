"""Rows have lineage: a bit per query that requires the row.

Source: Madden et al. 2002, section 2.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from eddyline.kernels.lineage import any_wanted
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.composites import Composites
from eddyline.runtime.eddy.result_form import Required, ResultForm
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.recipients import recipients_of
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.window_join.rows_groups import RowsGroups


class LineageForm(ResultForm):
    """The recipients of a result are the queries in its lineage."""

    def new_rows(self, source: int, batch: Batch) -> Required:
        bank = self.parts.banks[source]
        if self.parts.pull_up or (not bank.has_predicates and self.mask.any()):
            return batch, np.tile(self.mask, (batch.ts.size, 1))
        kept, lineages = [], []
        for some, lineage in bank.blocks(batch, self.mask):
            kept.append(some)
            lineages.append(lineage.copy())
        if not kept:
            none = batch.take(np.zeros(0, np.int64))
            return none, np.zeros((0, self.parts.members.words), np.uint64)
        rows = np.concatenate(kept)
        mine = batch if rows.size == len(batch) else batch.take(rows)
        return mine, np.concatenate(lineages)

    def lineage(self, required: Array) -> Array | None:
        return required

    def _built(self, rows: LineageInput, mask: Array) -> tuple[Array, Array]:
        return rows.required_by(mask)

    def _within(self, source: int, required: Array, age: Array) -> tuple[Array, Array]:
        windows = self.windows[source]
        inside = required & windows.members[np.searchsorted(windows.lengths, age, "right")]
        kept = np.flatnonzero(any_wanted(inside))
        return kept, inside[kept]

    def _evicted(
        self, rows: LineageInput, ids: Array, group: Array, groups: RowsGroups
    ) -> tuple[Array | slice, Array]:
        required = rows.lineage_of(ids) & groups.queries[group]
        some = np.flatnonzero(any_wanted(required))
        return some, required[some]

    def meet(
        self, target: int, probing: Composites, number: Array, found: Array, age: Array
    ) -> tuple[Array, Array]:
        return self.meet_rows(target, probing.required, number, found, age)

    def meet_rows(
        self, target: int, own: Array, number: Array, found: Array, age: Array
    ) -> tuple[Array, Array]:
        """See ``LineageInput.meet``."""
        return self.parts.inputs[target].meet(own, number, found, age, self.windows[target])

    def with_recipients(self, whole: Composites) -> Batch:
        batch, width = self._batch(whole), self.parts.members.width
        blocks = self._selected(batch, whole)
        return batch.sent_to(recipients_of(batch.exp, blocks, width, self._instants(whole)))

    def _selected(self, batch: Batch, whole: Composites) -> Iterator[tuple[Array, Array]]:
        """The lineage of results after the predicates that are applied above the join."""
        lineage = whole.required
        if self.parts.pull_up:
            for source, bank in enumerate(self.parts.banks):
                bank.narrow(self.parts.inputs[source].rows(whole.ids[source]), lineage)
        if self.parts.deferral is not None and self.parts.deferral.is_active:
            self.parts.deferral.apply(whole, lineage)
        if not self.parts.keyless:  # else they have been applied with the join condition
            self.parts.residual.narrow(batch, lineage)
        yield np.arange(len(batch)), lineage

    def released(self, whole: Composites, queries: Array) -> Batch:
        mine = np.packbits(self._present(queries), bitorder="little").view(np.uint64)
        required = np.zeros((len(whole), mine.size), np.uint64)
        required[:, : whole.required.shape[1]] = whole.required
        return self.with_recipients(replace(whole, required=required & mine))
