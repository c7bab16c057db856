"""AsofJoin: left rows with the latest right row of their key up to their time.

::

    left rows ── wait until all right rows up to their time are there ── the latest of their key
    right rows ── stored; by key the latest one that left rows have passed; younger ones in line
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.kernels.asof import latest_before
from eddyline.runtime.batch import EXPIRY, Batch, Evaluator, usable_rows
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import all_known
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.runtime.stores.slots import SlotArray
from eddyline.types import FOREVER, Schema

_NO_ROW = -1
#: Rows or keys at which what is not needed is forgotten for the first time.
_LEAST_FORGOTTEN: Final = 1024


@dataclass(frozen=True, slots=True)
class AsofForm:
    """What an AsofJoin joins.

    Attributes:
        left, right: the schemas of the inputs. width: how many ids a left row has.
        types: of the keys. left_keys, right_keys: compute them.
        offset: right rows count whose time is before that of the left one plus this, in us.
        lag: how much later than its event time a left row comes, in us.
        outer: whether left rows without a right one are emitted with NULLs.
    """

    left: Schema
    right: Schema
    width: int
    types: tuple[pa.DataType, ...]
    left_keys: tuple[Evaluator, ...]
    right_keys: tuple[Evaluator, ...]
    offset: int
    lag: int
    outer: bool


class AsofJoin(Operator):
    """Rows for which a key cannot be computed are left out. The inputs have no '-'.

    Results have the ids of their left rows, and are not stored here. A right row is kept while it
    is the latest of its key and in its window.
    """

    def __init__(self, left: Operator, right: Operator, form: AsofForm) -> None:
        super().__init__((left, right))
        self._form = form
        self._table = KeyTable(form.types)
        self._last = SlotArray(np.int64, fill=_NO_ROW)
        self._rights = RowStore(form.right, ["ts", "seq", "exp", "slot"])
        self._in_line = np.zeros(0, np.int64)  # ids of right rows that no left row has passed
        self._waiting = RowStore(form.left, ["ts", "seq", "exp"])
        self._waiting.add_block("ids", form.width)
        self._compact_at = _LEAST_FORGOTTEN
        self._keys_at = _LEAST_FORGOTTEN

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        form = self._form
        left, right = batches
        assert left.only_inserts() and right.only_inserts(), "rows that stay as they are"
        self._line_up(right)
        self._wait(left)
        until = tick.clock + form.offset
        ready = self._ready(tick.clock)
        lanes = [self._waiting.lane_at(n, ready) for n in ("ts", "seq", "exp")]
        ids = self._waiting.ids(ready)
        columns = [self._waiting.gather(i, ids) for i in range(len(form.left))]
        identity = self._waiting.lane_at("ids", ready)
        self._waiting.drop_before(int(ready[-1]) + 1 if ready.size else self._waiting.first)
        slot, usable = self._slots(columns)
        found = self._found(lanes[0] + form.offset, slot, until)
        found = self._in_window(found, lanes[0] - form.lag)
        wanted = usable if form.outer else usable & (found != _NO_ROW)
        chosen = np.flatnonzero(wanted)
        taken = pa.array(chosen)
        return self._results(
            [lane[chosen] for lane in lanes],
            identity[chosen],
            [c.take(taken) for c in columns],
            found[chosen],
        )

    def _line_up(self, batch: Batch) -> None:
        """Store right rows, behind those that are in line."""
        batch, keys = usable_rows(batch, self._form.right_keys)
        known = all_known(keys, len(batch))
        if not known.all():
            chosen = pa.array(known)
            batch, keys = batch.where(known), [k.filter(chosen) for k in keys]
        slot = self._table.slots(keys, len(batch))
        self._last.grow(self._table.end)
        lanes = {"ts": batch.ts, "seq": batch.seq, "exp": batch.exp, "slot": slot}
        new = self._rights.append(len(batch), lanes, batch.columns())
        ids = self._rights.ids(np.arange(new.start, new.stop))
        self._in_line = np.concatenate((self._in_line, ids))

    def _wait(self, batch: Batch) -> None:
        lanes = {"ts": batch.ts, "seq": batch.seq, "exp": batch.exp}
        ids = np.column_stack(batch.ids)
        self._waiting.append(len(batch), {**lanes, "ids": ids}, batch.columns())

    def _ready(self, clock: int) -> Array:
        """Positions of the left rows that right rows to come do not concern."""
        first, ts = self._waiting.first, self._waiting.held("ts")
        if self._form.offset > 0:
            ts = ts[: int(np.searchsorted(ts, clock + 1 - self._form.offset))]
        return np.arange(first, first + ts.size)

    def _slots(self, columns: list[pa.Array]) -> tuple[Array, Array]:
        """int64[n] slots of the keys of left rows, -1 for keys that no right row has had or with a
        NULL; bool[n]: whether they can be computed.
        """
        n = len(columns[0])
        none = np.zeros(n, np.int64)
        rows = Batch(
            none, none, none, np.ones(n, np.int8), (np.arange(n),), (None,), tuple(columns)
        )
        rows, keys = usable_rows(rows, self._form.left_keys)
        usable = np.zeros(n, np.bool_)
        usable[rows.ids[0]] = True
        known = all_known(keys, len(rows))
        if not known.all():
            chosen = pa.array(known)
            rows, keys = rows.where(known), [k.filter(chosen) for k in keys]
        slot = np.full(n, _NO_ROW)
        slot[rows.ids[0]] = self._table.slots(keys, len(rows))
        self._last.grow(self._table.end)
        return slot, usable

    def _found(self, before: Array, slot: Array, until: int) -> Array:
        """Ids of the right rows with the keys of left rows, the latest before these times."""
        positions = self._rights.positions(self._in_line)
        ts, right_slot = (self._rights.lane_at(n, positions) for n in ("ts", "slot"))
        found, applied = latest_before(
            before, slot, ts, right_slot, self._in_line, self._last.array, until
        )
        self._in_line = self._in_line[applied:]
        return found

    def _in_window(self, found: Array, times: Array) -> Array:
        """The right rows that have not left their window at these times."""
        there = np.flatnonzero(found != _NO_ROW)
        exp = self._rights.lane_at("exp", self._rights.positions(found[there]))
        out = found.copy()
        out[there[exp <= times[there]]] = _NO_ROW
        return out

    def _results(
        self, lanes: list[Array], ids: Array, columns: list[pa.Array], found: Array
    ) -> Batch:
        ts, seq, exp = lanes
        delay = max(self._form.offset, 0)
        if delay:
            seq = np.full(ts.size, EXPIRY, np.int64)
            exp = np.where(exp < FOREVER, exp + delay, exp)
        missing = found == _NO_ROW
        there = found[~missing]
        place = np.zeros(found.size, np.int64)
        place[~missing] = np.arange(there.size)
        pick = pa.array(place, mask=missing)
        rights = (self._rights.gather(i, there) for i in range(len(self._form.right)))
        return Batch(
            ts + delay,
            seq,
            exp,
            np.ones(ts.size, np.int8),
            tuple(np.ascontiguousarray(ids[:, i]) for i in range(self._form.width)),
            (None,) * self._form.width,
            (*columns, *(c.take(pick) for c in rights)),
        )

    def live(self, clock: int) -> Batch:
        """None: results are where they have been stored."""
        none = [np.zeros(0, np.int64)] * 3
        ids = np.zeros((0, self._form.width), np.int64)
        columns = [pa.array([], f.type) for f in self._form.left]
        return self._results(none, ids, columns, np.zeros(0, np.int64))

    def settle(self, clock: int) -> None:
        if len(self._rights) < self._compact_at and len(self._table) < self._keys_at:
            return
        held = np.arange(self._rights.first, self._rights.end)
        ids, slot = self._rights.ids(held), self._rights.held("slot")
        last = self._last.array[slot] == ids
        needed = last & (self._rights.held("exp") > clock - self._form.lag - 1)
        in_line = np.isin(ids, self._in_line)
        gone = slot[last & ~needed]
        self._last.array[gone] = _NO_ROW
        keep = needed | in_line
        self._rights.keep(keep)
        self._release()
        self._compact_at = 2 * len(self._rights) + _LEAST_FORGOTTEN
        self._keys_at = 2 * len(self._table) + _LEAST_FORGOTTEN

    def _release(self) -> None:
        """Forget the keys of which there is no right row."""
        unused = self._table.used()
        unused = unused[self._last.array[unused] == _NO_ROW]
        self._table.release(np.setdiff1d(unused, self._rights.held("slot")))

    def kept(self) -> int:
        return len(self._rights) + len(self._waiting)

    def state(self) -> State:
        return {
            "table": self._table.state(),
            "last": self._last.array[: self._last.end],
            "rights": self._rights.state(),
            "in_line": self._in_line,
            "waiting": self._waiting.state(),
        }

    def restore(self, state: State) -> None:
        self._table.restore(nested(state, "table"))
        last = array(state, "last")
        self._last.grow(last.size)
        self._last.array[: last.size] = last
        self._keys_at = 2 * len(self._table) + _LEAST_FORGOTTEN
        self._rights.restore(nested(state, "rights"))
        self._in_line = array(state, "in_line")
        self._waiting.restore(nested(state, "waiting"))
        self._compact_at = 2 * len(self._rights) + _LEAST_FORGOTTEN
