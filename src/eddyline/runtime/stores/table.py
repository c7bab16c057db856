"""Tables that change while queries run: a SteM whose rows may be deleted by value.

Two *death lanes* hold when a row was deleted, so that joins can probe the table as it was at any
instant (see ``eddyline.runtime.stores.index``)::

    change        row   lives
    10s  + a 1    0     [10s, 30s)
    20s  + a 2    1     [20s, ...)
    30s  - a 1    0     deleted; kept while probes of earlier instants may come

Rows with equal values are interchangeable: a deletion takes the newest of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.kernels import bags
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, unique
from eddyline.runtime.stores.index import Liveness
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.slots import SlotArray
from eddyline.runtime.stores.stem import EndlessWindow, Stem
from eddyline.types import BEGINNING, FOREVER, Schema

#: The lanes with the instant at which a row was deleted: FOREVER while it is there.
DEATH: Final = ("death_ts", "death_seq")
_NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class TableChanges:
    """Insertions and deletions in (ts, seq) order: the ids of their rows, and int8 signs."""

    ids: Array
    ts: Array
    seq: Array
    sign: Array

    @classmethod
    def none(cls) -> TableChanges:
        """No changes."""
        return cls(_NO_ROWS, _NO_ROWS, _NO_ROWS, np.zeros(0, np.int8))

    def where(self, wanted: Array) -> TableChanges:
        """Those where bool[n] ``wanted``."""
        if wanted.all():
            return self
        return TableChanges(self.ids[wanted], self.ts[wanted], self.seq[wanted], self.sign[wanted])


class TableWindow(EndlessWindow):
    """The rows of a table until they are deleted."""

    def __init__(self) -> None:
        super().__init__(keep=True)
        self.liveness = Liveness("ts", FOREVER, fifo=False, death=DEATH)


class TableStem(Stem):
    """The rows of a table: those that are there, and dead ones that are remembered.

    Attributes:
        changed: what the current chunk brought.
        deleted, orphans: how many deletions took a row, and how many found none.
    """

    def __init__(self, name: str, schema: Schema) -> None:
        super().__init__(name, schema)
        for lane in DEATH:
            self.add_lane(lane, FOREVER)
        self.add_lane("slot", -1)
        self.add_lane("older", bags.NOTHING, derived=True)
        self.window = TableWindow()
        self.changed = TableChanges.none()
        self.deleted = 0
        self.orphans = 0
        self._values = KeyTable([f.type for f in schema])
        self._top = SlotArray(np.int64, fill=bags.NOTHING)
        self._remembered: Counter[int] = Counter()

    @property
    def alive(self) -> int:
        """How many rows the table has now."""
        return self.arrived - self.deleted

    def load(self, contents: pa.Table) -> None:
        """The rows that are there before everything else."""
        begin = np.full(contents.num_rows, BEGINNING, np.int64)
        self._insert(begin, np.arange(contents.num_rows), contents.columns)

    def content(self) -> pa.Table:
        """The rows that are there, in order of (ts, seq): these two (int64), then the columns."""
        there = np.flatnonzero(self.held(DEATH[0]) == FOREVER) + self.first
        lanes = [pa.array(self.lane_at(name, there)) for name in ("ts", "seq")]
        ids = self.ids(there)
        columns = [self.gather(column, ids) for column in range(len(self.schema))]
        names = [field.name for field in self.schema]
        return pa.Table.from_arrays([*lanes, *columns], ["ts", "seq", *names])

    def take_over(self, content: pa.Table) -> None:
        """Have the rows that :meth:`content` of another engine returned; there are none here."""
        ts, seq, *columns = content.columns
        self._insert(ts.to_numpy(), seq.to_numpy(), columns)

    def _insert(self, ts: Array, seq: Array, columns: Sequence[pa.ChunkedArray]) -> None:
        """Add rows before the first chunk."""
        arrays = [column.combine_chunks() for column in columns]
        self.change(ts, seq, np.ones(ts.size, np.int8), arrays)
        self.changed = TableChanges.none()

    def change(self, ts: Array, seq: Array, sign: Array, columns: Sequence[pa.Array]) -> Array:
        """Take in a chunk's changes, which are in (ts, seq) order.

        Args:
            sign: int8[n], +1 inserts a row, -1 deletes one that is equal in all columns (NULL
                equals NULL, as in GROUP BY).

        Returns:
            The numbers of the deletions for which there is no row.
        """
        slots = self._values.slots(columns, ts.size)
        new = np.flatnonzero(sign > 0)
        pick = pa.array(new)
        entering = columns if new.size == ts.size else [c.take(pick) for c in columns]
        lanes = {"ts": ts[new], "seq": seq[new], "slot": slots[new]}
        appended = self.append(new.size, lanes, entering)
        self._top.grow(self._values.end)
        rows = bags.apply_changes(
            bags.BagChanges(slots, sign, ts, seq),
            appended.start,
            self.base,
            bags.Stacks(
                self._top.array, self.lane("older"), self.lane(DEATH[0]), self.lane(DEATH[1])
            ),
        )
        touched = unique(slots)
        self._values.release(touched[self._top.array[touched] == bags.NOTHING])
        found = rows != bags.NOTHING
        self.arrived += new.size
        self.deleted += int(found.sum()) - new.size
        self.orphans += int(found.size - found.sum())
        some = np.flatnonzero(found)
        self.changed = TableChanges(self.ids(rows[some]), ts[some], seq[some], sign[some])
        return np.flatnonzero(~found)

    def remember(self, us: int) -> None:
        """Keep rows for so long after their death, until as many calls of ``forget``."""
        self._remembered[us] += 1

    def forget(self, us: int) -> None:
        """Undo ``remember``."""
        self._remembered[us] -= 1
        self._remembered = +self._remembered

    def purge(self, clock: int) -> None:
        self.changed = TableChanges.none()
        if len(self) < self.compact_at:
            return
        death = self.held(DEATH[0])
        needed = (death == FOREVER) | (death > clock - max(self._remembered, default=0))
        if not needed.all():
            self.keep(needed)
            self._stack()
        self.compact_at = 2 * len(self) + 1024

    def _stack(self) -> None:
        """Rebuild the stacks of live rows by value."""
        self._top.grow(self._values.end)
        self._top.held().fill(bags.NOTHING)
        bags.stack_all(
            self.lane("slot"),
            self.base,
            self.first,
            self.end,
            self._top.array,
            self.lane("older"),
            self.lane(DEATH[0]),
        )

    def state(self) -> State:
        return {
            **super().state(),
            "values": self._values.state(),
            "deletions": np.array([self.deleted, self.orphans]),
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        self._values.restore(nested(state, "values"))
        self.deleted, self.orphans = (int(v) for v in array(state, "deletions"))
        self.compact_at = 2 * len(self) + 1024
        self._stack()
