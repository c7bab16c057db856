"""SessionRows: rows with the session that they are in, until it has ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import EXPIRY, Batch, Evaluator, Stored, merge, usable_rows
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.runtime.stores.session_groups import SessionGroups
from eddyline.runtime.time_windows import instants
from eddyline.types import FOREVER, Schema

#: Rows at which those of ended sessions are forgotten for the first time.
_LEAST_FORGOTTEN = 1024


@dataclass(frozen=True, slots=True)
class SessionForm:
    """Which sessions rows are in.

    Attributes:
        gap_us: the longest time between two rows of a session.
        partition, types: what rows of a session agree on.
        schema: of the output.
    """

    gap_us: int
    partition: tuple[Evaluator, ...]
    types: tuple[pa.DataType, ...]
    schema: Schema


class SessionRows(Operator):
    """Stores the rows of open sessions, and emits them with the start of the session and the
    instant up to which they keep it open. All leave when time has passed the end of their session.

    A row whose partition cannot be computed is in no session. The input has no '-'.
    """

    def __init__(self, source: Operator, form: SessionForm) -> None:
        super().__init__((source,))
        self._form = form
        self._rows = RowStore(form.schema, ["ts", "seq"])
        self._rows.add_lane("exp", FOREVER)
        self._cells = tuple(Stored(0, i) for i in range(len(form.schema)))
        # a group per row, whose key is the row's id
        self._groups = SessionGroups(form.types, (pa.int64(),), form.gap_us, ())
        self._compact_at = _LEAST_FORGOTTEN

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        batch, partition = usable_rows(batches[0], self._form.partition)
        assert batch.only_inserts(), "a '-' is at another instant than its row"
        session = self._groups.assign(batch.ts, partition)
        start, until = self._groups.starts(session), batch.ts + self._form.gap_us
        columns = [*batch.columns(), instants(start), instants(until)]
        new = self._rows.append(len(batch), {"ts": batch.ts, "seq": batch.seq}, columns)
        positions = np.arange(new.start, new.stop)
        self._groups.add(session, [pa.array(self._rows.ids(positions))], [])
        entering = self._batch(positions, batch.ts, batch.seq, np.ones(len(batch), np.int8))
        return merge([self._leaving(tick.clock), entering])

    def _leaving(self, clock: int) -> Batch:
        """A '-' for each row of the sessions that time has passed."""
        closed, _ = self._groups.close(clock)
        ids = closed.keys[-1].to_numpy(zero_copy_only=False)
        positions, at = self._rows.positions(ids), closed.end + 1
        self._rows.lane("exp")[positions - self._rows.base] = at
        return self._batch(
            positions, at, np.full(at.size, EXPIRY, np.int64), np.full(at.size, -1, np.int8)
        )

    def _batch(self, positions: Array, ts: Array, seq: Array, sign: Array) -> Batch:
        exp = np.full(ts.size, FOREVER, np.int64)
        ids = (self._rows.ids(positions),)
        return Batch(ts, seq, exp, sign, ids, (self._rows,), self._cells)

    def live(self, clock: int) -> Batch:
        rows = self._rows
        positions = np.flatnonzero(rows.held("exp") > clock) + rows.first
        ts, seq = (rows.lane_at(n, positions) for n in ("ts", "seq"))
        return self._batch(positions, ts, seq, np.ones(positions.size, np.int8))

    def settle(self, clock: int) -> None:
        if len(self._rows) >= self._compact_at:
            self._rows.keep(self._rows.held("exp") > clock)
            self._compact_at = 2 * len(self._rows) + _LEAST_FORGOTTEN

    def kept(self) -> int:
        return int((self._rows.held("exp") == FOREVER).sum())

    def state(self) -> State:
        return {"rows": self._rows.state(), "groups": self._groups.state()}

    def restore(self, state: State) -> None:
        self._rows.restore(nested(state, "rows"))
        self._groups.restore(nested(state, "groups"))
        self._compact_at = 2 * len(self._rows) + _LEAST_FORGOTTEN
