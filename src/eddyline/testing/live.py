"""Tables that change: their history as the lifespan of each row.

A change is a row with two more columns in front: ``_ts``, its instant, and ``_op``, ``+`` or ``-``.
A ``-`` removes one row that is equal in all columns, where NULL equals NULL::

    _ts | _op | k              k | __from     __to
    2s  | +   | 1              1 | 2s         5s
    3s  | +   | 1      ->      1 | 3s         for ever
    5s  | -   | 1
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.testing.bags import Row, rows_of
from eddyline.types import BEGINNING, FOREVER, TIMESTAMP

#: Whether a change affects results of earlier rows.
LiveUpdates = Literal["non-retroactive", "retroactive"]

_HEADER: Final = (pa.field("_ts", TIMESTAMP), pa.field("_op", pa.string()))


@dataclass(frozen=True)
class LiveTable:
    """A table and its changes.

    Attributes:
        contents: the initial rows.
        changes: ``_ts``, ``_op`` and the columns of ``contents``, in the order of arrival.
    """

    updates: LiveUpdates
    contents: pa.Table
    changes: pa.Table

    def lifespans(self) -> pa.Table:
        """Every row that was ever in the table, with ``__from`` and ``__to`` in us."""
        ends, _ = _replay(self)
        changes = self.changes.filter(pc.equal(self.changes["_op"], "+"))
        rows = pa.concat_tables([self.contents, changes.select(self.contents.column_names)])
        starts = [BEGINNING] * self.contents.num_rows + _times_us(changes)
        for name, times in (("__from", starts), ("__to", ends)):
            rows = rows.append_column(name, pa.array(times, pa.int64()))
        return rows

    def times_us(self) -> list[int]:
        """The instants of the changes, in us."""
        return _times_us(self.changes)

    def orphans(self) -> list[int]:
        """Positions in ``changes`` of each ``-`` that removes no row."""
        return _replay(self)[1]


def change_schema(table: pa.Schema) -> pa.Schema:
    """The columns of the changes of a table."""
    return pa.schema([*_HEADER, *table])


def as_changes(rows: pa.Table, table: pa.Schema) -> pa.Table:
    """Input changes with the column ``_op`` (``+`` if it is missing)."""
    if "_op" not in rows.column_names:
        rows = rows.append_column("_op", pa.array(["+"] * rows.num_rows, pa.string()))
    schema = change_schema(table)
    return rows.select(schema.names).cast(schema)


def _replay(table: LiveTable) -> tuple[list[int], list[int]]:
    """The end of each row, the initial ones first; and the changes that remove no row."""
    changes, times = table.changes, _times_us(table.changes)
    operations = changes["_op"].to_pylist()
    rows = rows_of(changes, range(len(_HEADER), changes.num_columns))
    inserts = [i for i, op in enumerate(operations) if op == "+"]
    number = {i: table.contents.num_rows + n for n, i in enumerate(inserts)}
    ends = [FOREVER] * (table.contents.num_rows + len(inserts))
    current: defaultdict[Row, list[int]] = defaultdict(list)
    for n, row in enumerate(rows_of(table.contents)):
        current[row].append(n)
    orphans = []
    for i in sorted(range(len(times)), key=times.__getitem__):  # stable: arrival breaks ties
        if operations[i] == "+":
            current[rows[i]].append(number[i])
        elif current[rows[i]]:
            ends[current[rows[i]].pop(0)] = times[i]
        else:
            orphans.append(i)
    return ends, sorted(orphans)


def _times_us(changes: pa.Table) -> list[int]:
    times: list[int] = changes["_ts"].cast(TIMESTAMP).cast(pa.int64()).to_pylist()
    return times
