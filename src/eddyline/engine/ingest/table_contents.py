"""The content of tables that change, from engines to others with the same clock.

An engine that begins while others run gets what these have of the tables: their rows as they are
after the last call, the changes that wait for the watermark, and where the numbering of rows is. So
it goes on with these tables as if it had been there from the beginning.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.engine.checkpoint.files import read_saved, write_saved
from eddyline.engine.ingest.inputs import Inputs
from eddyline.engine.ingest.ordered_rows import ARRIVALS_PER_CALL
from eddyline.runtime.stores.table import TableStem

_ROWS: Final = "rows:"
_WAITING: Final = "waiting:"
#: Columns that are not of the table: see ``TableStem.content`` and ``Intake.waiting``.
LANES: Final = 2


@dataclass(frozen=True)
class TableContents:
    """The content of tables that change.

    Attributes:
        rows: by table, see ``TableStem.content``. waiting: by table, see ``Intake.waiting``.
        arrival, sequence: of ``Inputs``.
    """

    rows: Mapping[str, pa.Table]
    waiting: Mapping[str, pa.Table]
    arrival: int
    sequence: int

    @classmethod
    def of(cls, inputs: Inputs, tables: Iterable[str]) -> TableContents:
        """What an engine has of some tables."""
        rows, waiting = {}, {}
        for name in sorted(tables):
            rows[name] = _stem(inputs, name).content()
            waiting[name] = inputs.intake(name).waiting()
        return cls(rows, waiting, inputs.arrival, inputs.sequence)

    @classmethod
    def merged(cls, parts: Sequence[TableContents]) -> TableContents:
        """The contents of several engines that have been called equally often; of each table all
        rows are in one of them, or each row is.
        """
        names = sorted({name for part in parts for name in part.rows})
        rows = {name: _in_order([p.rows[name] for p in parts if name in p.rows]) for name in names}
        waiting = {
            name: _in_order([p.waiting[name] for p in parts if name in p.rows]) for name in names
        }
        if len(parts) > 1:
            waiting = _renumbered(waiting)
        return cls(
            rows,
            waiting,
            max((part.arrival for part in parts), default=0),
            max((part.sequence for part in parts), default=0),
        )

    def only(self, tables: Iterable[str]) -> TableContents:
        """The content of some of the tables."""
        names = [*tables]
        rows = {name: self.rows[name] for name in names}
        return replace(self, rows=rows, waiting={name: self.waiting[name] for name in names})

    def give(self, inputs: Inputs) -> None:
        """Let an engine begin with this content, instead of the initial rows of these tables, which
        nothing has read there.
        """
        for name, rows in self.rows.items():
            inputs.contents[name] = rows.select(range(LANES, rows.num_columns)).slice(0, 0)
            _stem(inputs, name).take_over(rows)
            inputs.intake(name).take_over(self.waiting[name])
        inputs.arrival = max(inputs.arrival, self.arrival)
        inputs.sequence = max(inputs.sequence, self.sequence)

    def packed(self) -> bytes:
        """As bytes, for :meth:`read`."""
        tables = {_ROWS + name: rows for name, rows in self.rows.items()}
        tables |= {_WAITING + name: rows for name, rows in self.waiting.items()}
        target = io.BytesIO()
        numbers = {"arrival": self.arrival, "sequence": self.sequence}
        write_saved(target, (), tables, numbers, {})
        return target.getvalue()

    @classmethod
    def read(cls, content: bytes) -> TableContents:
        """The packed contents.

        Raises:
            StateError: they are damaged, or were written by another version.
        """
        _, tables, numbers, _ = read_saved(io.BytesIO(content))
        rows, waiting = (
            {n.removeprefix(p): table for n, table in tables.items() if n.startswith(p)}
            for p in (_ROWS, _WAITING)
        )
        return cls(rows, waiting, numbers["arrival"], numbers["sequence"])


def _stem(inputs: Inputs, name: str) -> TableStem:
    stem = inputs.stem(name)
    assert isinstance(stem, TableStem), "tables that change have a TableStem"
    return stem


def _in_order(parts: Sequence[pa.Table]) -> pa.Table:
    """The rows of several engines, in order of their first two columns."""
    if len(parts) == 1:
        return parts[0]
    rows = pa.concat_tables(parts)
    first, second = (rows.column(lane).to_numpy() for lane in range(LANES))
    return rows.take(pa.array(np.lexsort((second, first))))


def _renumbered(waiting: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Waiting rows, numbered as in one engine: by call, then by table, then as they were."""
    arrivals = [rows.column(1).to_numpy() for rows in waiting.values()]
    ends = np.cumsum([arrival.size for arrival in arrivals])
    arrival = np.concatenate(arrivals)
    table = np.repeat(np.arange(ends.size), [a.size for a in arrivals])
    call = arrival // ARRIVALS_PER_CALL
    order = np.lexsort((arrival, table, call))
    first_of_call = np.searchsorted(call[order], call)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    numbers = call * ARRIVALS_PER_CALL + place - first_of_call
    parts = np.split(numbers, ends[:-1])
    return {
        name: rows.set_column(1, rows.schema.field(1), pa.array(part))
        for (name, rows), part in zip(waiting.items(), parts, strict=True)
    }
