"""Tables that change: their history told as the time that each row is in the table.

A change is a row with two more columns in front: ``_ts``, when it happens, and ``_op``, ``+`` or
``-``. A ``-`` takes back one row that is equal in all columns, NULL being equal to NULL::

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

#: Whether a change counts for the rows that came before it.
LiveUpdates = Literal["non-retroactive", "retroactive"]

_HEADER: Final = (pa.field("_ts", TIMESTAMP), pa.field("_op", pa.string()))


@dataclass(frozen=True)
class LiveTable:
    """A table and what happens to it.

    Attributes:
        contents: the rows that are there before everything.
        changes: ``_ts``, ``_op`` and the columns of ``contents``, in the order of arrival.
    """

    updates: LiveUpdates
    contents: pa.Table
    changes: pa.Table

    def lifespans(self) -> pa.Table:
        """Every row that ever was in the table, with ``__from`` and ``__to`` in us."""
        ends, _ = _replay(self)
        changes = self.changes.filter(pc.equal(self.changes["_op"], "+"))
        rows = pa.concat_tables([self.contents, changes.select(self.contents.column_names)])
        starts = [BEGINNING] * self.contents.num_rows + _times_us(changes)
        for name, times in (("__from", starts), ("__to", ends)):
            rows = rows.append_column(name, pa.array(times, pa.int64()))
        return rows

    def times_us(self) -> list[int]:
        """When each change happens, in us."""
        return _times_us(self.changes)

    def orphans(self) -> list[int]:
        """Places in ``changes`` of each ``-`` that has nothing to take back."""
        return _replay(self)[1]


def change_schema(table: pa.Schema) -> pa.Schema:
    """The columns of the changes of a table."""
    return pa.schema([*_HEADER, *table])


def as_changes(rows: pa.Table, table: pa.Schema) -> pa.Table:
    """Changes as they are handed over, with ``_op`` (``+`` where there is no such column)."""
    if "_op" not in rows.column_names:
        rows = rows.append_column("_op", pa.array(["+"] * rows.num_rows, pa.string()))
    schema = change_schema(table)
    return rows.select(schema.names).cast(schema)


def _replay(table: LiveTable) -> tuple[list[int], list[int]]:
    """When each row ends, the initial ones first; and the changes that take back nothing."""
    changes, times = table.changes, _times_us(table.changes)
    operations = changes["_op"].to_pylist()
    rows = rows_of(changes, range(len(_HEADER), changes.num_columns))
    inserts = [i for i, op in enumerate(operations) if op == "+"]
    number = {i: table.contents.num_rows + n for n, i in enumerate(inserts)}
    ends = [FOREVER] * (table.contents.num_rows + len(inserts))
    there: defaultdict[Row, list[int]] = defaultdict(list)
    for n, row in enumerate(rows_of(table.contents)):
        there[row].append(n)
    orphans = []
    for i in sorted(range(len(times)), key=times.__getitem__):  # stable: arrival breaks ties
        if operations[i] == "+":
            there[rows[i]].append(number[i])
        elif there[rows[i]]:
            ends[there[rows[i]].pop(0)] = times[i]
        else:
            orphans.append(i)
    return ends, sorted(orphans)


def _times_us(changes: pa.Table) -> list[int]:
    times: list[int] = changes["_ts"].cast(TIMESTAMP).cast(pa.int64()).to_pylist()
    return times
