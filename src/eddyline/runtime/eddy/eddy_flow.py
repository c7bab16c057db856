"""A flow whose joins are made by an eddy, with those of other streams (``eddy.py``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from eddyline.runtime.batch import Batch, Stored
from eddyline.runtime.eddy.eddy import Eddy
from eddyline.runtime.eddy.eddy_source import EddyJoin, EddySource, Joined
from eddyline.runtime.eddy.edges import Equality
from eddyline.runtime.eddy.flow import Flow, Member
from eddyline.runtime.eddy.policies import Policy
from eddyline.runtime.eddy.routing import order_of
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.recipients import all_for, recipients_of
from eddyline.runtime.stores.columns import Array
from eddyline.types import FOREVER


class EddyFlow(Flow):
    """Takes what an eddy finds for queries with the same sources and join keys.

    Args:
        sources: of the eddy. edges: between their numbers, with all equalities that follow.
    """

    def __init__(
        self,
        eddy: Eddy,
        sources: Sequence[EddySource],
        edges: Sequence[Equality],
        new_policy: Callable[[], Policy],
    ) -> None:
        scans = [source.scan for source in sources]
        windows = [source.window for source in sources]
        banks = [source.bank for source in sources]
        super().__init__((eddy, *scans), windows, new_policy, banks=banks, bits=eddy.bits)
        self.eddy = eddy
        self._sources = tuple(sources)
        self._stems = tuple(scan.stem for scan in scans)
        self._cells = tuple(
            Stored(s, i) for s, stem in enumerate(self._stems) for i in range(len(stem.schema))
        )
        self._join = EddyJoin(self._sources, tuple(edges), self._members)
        self._nothing: Batch | None = None  # the last batch, if it had no rows
        eddy.add(self._join)

    @property
    def sources(self) -> tuple[Operator, ...]:
        """Its own streams: the eddy reads others, too."""
        return self.inputs[1:]

    def admit(self, member: Member) -> int:
        bit = super().admit(member)
        self._nothing = None  # there may be more bits
        self.eddy.admit(self._join, bit, member)
        return bit

    def dismiss(self, bit: int) -> None:
        super().dismiss(bit)
        self.eddy.change()

    def retire(self, bit: int) -> None:
        super().retire(bit)
        self.eddy.change()

    def leave(self) -> list[Operator]:
        """Leave the eddy; returns what no other flow needs below it."""
        return list(self.eddy.remove(self._join))

    @property
    def sharers(self) -> tuple[int, ...]:
        return tuple(len(source.joins) for source in self._sources)

    @property
    def visits(self) -> int:
        return self._residual.visits + round(self._join.visits)

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        if self._nothing is not None and not any(map(len, self._join.found)):
            self._join.found = []
            return self._nothing
        batch = self._with_recipients()
        self._nothing = None if len(batch) else batch
        return batch

    def _results(self, clock: int, bits: Sequence[int]) -> Batch:
        self.eddy.answer(self._join, self._members.lineage(bits))
        batch = self._with_recipients()
        chosen = np.zeros(self._members.width, np.bool_)
        chosen[list(bits)] = True
        assert batch.recipients is not None, "set above"
        return batch.sent_to(batch.recipients.of_queries(chosen))

    def _with_recipients(self) -> Batch:
        """What the eddy has found, with the queries that get it."""
        found, self._join.found = self._join.found, []
        (ts, seq, *ids), required = self._in_order(found)
        exp, sign = np.full(ts.size, FOREVER, np.int64), np.ones(ts.size, np.int8)
        batch = Batch(ts, seq, exp, sign, tuple(ids), self._stems, self._cells)
        lengths, width = self._members.lengths, self._members.width
        instants = [
            (stem.lane_at("ts", stem.positions(rows)), length)
            for stem, rows, length in zip(self._stems, ids, lengths, strict=True)
        ]
        readable = self._members.readable
        if len(readable) == 1 and not self._residual.has_predicates:
            return batch.sent_to(all_for(int(readable[0]), exp, width, instants))
        self._residual.narrow(batch, required)
        blocks = [(np.arange(ts.size), required)]
        return batch.sent_to(recipients_of(exp, blocks, width, instants))

    def _in_order(self, found: Sequence[Joined]) -> tuple[Array, Array]:
        """Results in the order of events: int64[2 + sources, n], ts, seq and ids; their lineage."""
        parts = [rows for rows in found if len(rows)]
        if not parts:
            nothing = np.zeros((2 + len(self._sources), 0), np.int64)
            return nothing, np.zeros((0, self._members.words), np.uint64)
        places = [[0, 1, *(p.ids[n] for n in self._join.numbers)] for p in parts]
        lanes = np.concatenate([p.lanes[at] for p, at in zip(parts, places, strict=True)], axis=1)
        required = np.concatenate([rows.required for rows in parts])
        order = order_of(lanes[1], list(lanes[2:]))
        return lanes.take(order, axis=1), required[order]
