"""A join input with feedback: its rows become visible once consumers further up require them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from eddyline.kernels.merge import interleaved, merge_destinations
from eddyline.runtime.batch import EXPIRY, Batch, Evaluator, merge
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.feedback.join_counts import InputCounts
from eddyline.runtime.feedback.key_index import KeyIndex
from eddyline.runtime.join_inputs.buffer import InputBuffer
from eddyline.runtime.join_inputs.gated_rows import GatedRows, Passed
from eddyline.runtime.join_inputs.join_input import JoinInput
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, order_by
from eddyline.runtime.stores.index import Probes
from eddyline.runtime.stores.rowstore import Lane
from eddyline.types import FOREVER

_NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Released:
    """The rows that become visible in a chunk.

    Attributes:
        late, late_keys: int64[m], positions and join keys of rows of instants before the chunk.
        new, keys, batch: int64[n], positions and join keys of the chunk's rows, and these.
        returned, returned_keys, left: as of ``Passed``.
    """

    late: Array
    late_keys: Array
    new: Array
    keys: Array
    batch: Batch
    returned: Array = field(default_factory=lambda: _NO_ROWS)
    returned_keys: Array = field(default_factory=lambda: _NO_ROWS)
    left: Array = field(default_factory=lambda: _NO_ROWS)


@dataclass(frozen=True, slots=True)
class Progress:
    """What the join has processed before the chunk.

    Attributes:
        clock: the end of the chunk before.
        ts, seq: the last instant of a row.
    """

    clock: int
    ts: int
    seq: int

    def has_late(self, batch: Batch) -> bool:
        """Whether any row is late: if so, the first."""
        return len(batch) > 0 and (batch.ts[0], batch.seq[0]) <= (self.ts, self.seq)

    def is_late(self, batch: Batch) -> Array:
        """bool[n]: which of the chunk's rows are of instants that have been processed."""
        late: Array = (batch.ts < self.ts) | ((batch.ts == self.ts) & (batch.seq <= self.seq))
        return late

    def probes(self, keys: Array) -> Probes:
        """Probes for the rows before the chunk that are still alive."""
        seq = self.seq if self.ts == self.clock else EXPIRY
        return Probes(keys, np.full(keys.size, self.clock), np.full(keys.size, seq))


class GatedInput(JoinInput):
    """The visible rows of a buffered input: all, or those that pass a gate.

    Args:
        buffer: all rows of the input.
        gated: those of them that pass a gate; None: every row is visible.
        shared: all rows by the same keys; if given, all are visible and none is ever late.
        scanned: see ``HashIndex``.

    Attributes:
        joined: number of rows that have become visible.
        between: by probe of the gate, the number of joins up to the one that requires the match.
    """

    def __init__(
        self,
        buffer: InputBuffer,
        keys: Sequence[Evaluator],
        gated: GatedRows | None,
        *,
        shared: KeyIndex | None = None,
        scanned: bool = False,
    ) -> None:
        index = None if gated is None else gated.visible
        if shared is not None:
            shared.acquire()
            index = shared.index
        super().__init__(buffer.rows, keys, index=index, scanned=scanned)
        self.buffer = buffer
        self.joined = 0
        self.between: Sequence[int] = ()
        self._gated = gated
        self._shared = shared
        self._noted: Lane | None = None  # in which chunk rows became visible; 0: before the notes

    @property
    def source(self) -> Operator:
        """The operator whose rows the join reads."""
        return self.buffer if self._gated is None else self._gated

    @property
    def gate(self) -> Gate | None:
        """The gate before which rows are suspended, if there is one."""
        return None if self._gated is None else self._gated.gate

    @property
    def counts(self) -> InputCounts:
        """The number of rows so far."""
        if self._gated is None:
            return InputCounts(self.joined, self.joined)
        withheld = [0] * (1 + max(self.between, default=-1))
        for between, rows in zip(self.between, self._gated.gate.withheld, strict=False):
            withheld[between] += rows
        return InputCounts(self._gated.came, self.joined, tuple(withheld))

    def released(self, batch: Batch, before: Progress) -> Released:
        """Which rows become visible now, of the chunk's rows and of those suspended."""
        if self._gated is None:
            batch, passed = self._all_passed(batch, self.buffer.placed)
        else:
            passed = self._gated.passed
        positions, keys = passed.positions, passed.keys
        self.joined += passed.released.size + len(batch)
        returned = passed.returned, passed.returned_keys, passed.left
        if passed.released.size == 0 and not before.has_late(batch):
            return Released(_NO_ROWS, _NO_ROWS, positions, keys, batch, *returned)
        is_late = before.is_late(batch)
        late = is_late & (batch.exp > before.clock)
        return Released(
            np.concatenate((passed.released, positions[late])),
            np.concatenate((passed.released_keys, keys[late])),
            positions[~is_late],
            keys[~is_late],
            batch.where(~is_late),
            *returned,
        )

    def begin(self, batch: Batch) -> tuple[Batch, Array]:
        """The rows from before the join was made that are visible, and their keys."""
        if self._gated is None:
            batch, passed = self._all_passed(batch, self.buffer.shown)
        else:
            passed = self._gated.passed
        self.joined += len(batch)
        self.link(passed.positions, passed.keys)
        return batch, passed.keys

    def _all_passed(self, batch: Batch, positions: Array) -> tuple[Batch, Passed]:
        """The rows at positions that have a join key."""
        keys, usable = self.keys(batch)
        if usable is not None:  # a NULL in its key: the row matches nothing
            batch, positions, keys = batch.where(usable), positions[usable], keys[usable]
        return batch, Passed(positions, keys)

    @property
    def left(self) -> Lane | None:
        """As of ``GatedRows``."""
        return None if self._gated is None else self._gated.left

    def find(self, probes: Probes, *, inclusive: bool) -> tuple[Array, Array]:
        by, found = super().find(probes, inclusive=inclusive)
        if self.left is None:
            return by, found
        there = self.left.at(found) == FOREVER
        return by[there], found[there]

    def with_leaving(self, batch: Batch, keys: Array) -> tuple[Batch, Array]:
        """New rows and their keys, with a '-' for each row that leaves since rows are evicted."""
        positions = self.rows.leaving()
        if positions.size == 0:
            return batch, keys
        own, indexed = self.hashed.keys_at(positions)  # filters reject others, or they have no key
        positions, own = positions[indexed], own[indexed]
        death = self.rows.liveness.death
        assert death is not None, "rows leave"
        rows = self.buffer.rows_at(positions)
        rows.ts, rows.seq = (self.rows.store.lane_at(lane, positions) for lane in death)
        rows.sign = np.full(len(rows), -1, np.int8)
        order = order_by(rows.ts, rows.seq)
        order = order[rows.exp[order] > rows.ts[order]]
        rows, own = rows.take(order), own[order]
        to_new, to_leaving = merge_destinations(batch.ts, batch.seq, rows.ts, rows.seq)
        return merge([batch, rows]), interleaved(keys, own, to_new, to_leaving)

    def note(self, released: Released) -> None:
        """Note in which chunk rows become visible for the first time."""
        assert self._gated is not None, "rows leave behind gates"
        if self._noted is None:
            self._noted = Lane(self.rows.store, 0)
        for positions in (released.late, released.new):
            self._noted.put(positions, np.full(positions.size, self._gated.chunk))

    def forget_notes(self) -> None:
        """No row of either input has left."""
        if self._noted is not None:
            self._noted.close()
            self._noted = None

    def missed(self, by: Released, before: Progress) -> tuple[Array, Array]:
        """The pairs that rows returned to the other input have missed: rows of this one that became
        visible since. Positions of theirs and of these, by pair.
        """
        assert self._noted is not None and self._gated is not None, "noted"
        self.link(_NO_ROWS, _NO_ROWS)  # no row is of this chunk yet
        number, found = super().find(before.probes(by.returned_keys), inclusive=True)
        number, found = self._there_before(number, found, before)
        came = self._noted.at(found)
        missed = (came >= by.left[number]) & (came < self._gated.chunk)
        return by.returned[number[missed]], found[missed]

    def insert(self, positions: Array, keys: Array) -> None:
        """Make the chunk's new rows visible, as of their instants."""
        if self._shared is None:
            self.index.insert(positions, keys)

    def link(self, positions: Array, keys: Array) -> None:
        """Make earlier rows visible to probes of any instant; none of the rows is new any more."""
        if self._shared is None:
            self.hashed.link(positions, keys)

    def meet(
        self, late: Array, keys: Array, other: GatedInput, before: Progress
    ) -> tuple[Array, Array]:
        """Make late rows visible; positions of these and of the rows that they meet, by pair."""
        self.link(late, keys)
        by, found = other.find(before.probes(keys), inclusive=True)
        by, found = other._there_before(by, found, before)
        return late[by], found

    def _there_before(self, by: Array, found: Array, before: Progress) -> tuple[Array, Array]:
        """Pairs with the rows found that were not evicted before the chunk."""
        if self.rows.liveness.death is None:
            return by, found
        there = self.rows.alive_until(found) > before.clock
        return by[there], found[there]

    def settle(self, clock: int) -> None:
        """The buffer drops expired rows."""

    def kept(self) -> int:
        """The buffer has the rows."""
        return 0

    def close(self) -> None:
        self.forget_notes()
        if self._shared is not None:
            self._shared.release()
            self._shared.drop_reader()
        elif self._gated is None:
            super().close()

    @property
    def _has_index(self) -> bool:
        """Whether the index is its own."""
        return self._shared is None and self._gated is None

    def state(self) -> State:
        came = {} if self._noted is None else {"came": self._noted.state()}
        return {**came, "index": self.hashed.state()} if self._has_index else came

    def restore(self, state: State) -> None:
        if self._has_index:
            self.hashed.restore(nested(state, "index"))
        if "came" in state:
            self._noted = Lane(self.rows.store, 0)
            self._noted.restore(array(state, "came"))
