"""Statistics from a sample of rows: rates, sizes, numbers of values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.catalog import DeclaredSizes, StreamDef, TableDef
from eddyline.engine.ingest.row_reader import RowReader
from eddyline.engine.ingest.table_changes import OPERATION, ChangeReader
from eddyline.engine.ingest.tables import table_columns
from eddyline.optimizer.estimates import population
from eddyline.runtime.stores.columns import Array, raw_values

#: Share of the first and of the last rows of a large sample that is ignored: outliers in time.
_OUTLIERS: Final = 0.01
_LARGE: Final = 1_000


@dataclass(frozen=True)
class Sampled:
    """Statistics of a sample.

    Attributes:
        rows: number of rows. bad: number of bad rows.
    """

    sizes: DeclaredSizes
    rows: int
    bad: int = 0


def of_stream(stream: StreamDef, rows: pa.Table, columns: Collection[str]) -> Sampled:
    """The rate of a stream and the numbers of values of some columns.

    Raises:
        DataError: a column is missing, or cannot be converted to the declared type.
    """
    good, times, bad = _good_rows(RowReader(stream), rows)
    return Sampled(_sizes(good, times, columns), rows.num_rows, bad)


def of_changes(table: TableDef, rows: pa.Table, columns: Collection[str]) -> Sampled:
    """For the changes of a table: rows added per second, and rows in the table."""
    good, times, bad = _good_rows(ChangeReader(table), rows)
    added = pc.not_equal(good[OPERATION.name], "-")
    sizes = _sizes(good.filter(added), times.filter(added.combine_chunks()), columns)
    left = max(2 * int(pc.sum(added).as_py() or 0) - good.num_rows, 0)
    return Sampled(DeclaredSizes(sizes.rate, left, sizes.distinct), rows.num_rows, bad)


def of_table(table: TableDef, rows: pa.Table, columns: Collection[str]) -> Sampled:
    """The numbers of rows and values of a static table.

    Raises:
        DataError: as for a stream.
    """
    typed = table_columns(table, rows)
    distinct = {c: float(_distinct(typed[c])) for c in columns}
    return Sampled(DeclaredSizes(None, typed.num_rows, distinct), typed.num_rows)


def as_options(sizes: DeclaredSizes, digits: int = 3) -> str:
    """Options of WITH that declare sizes, rounded to significant digits.

    >>> as_options(DeclaredSizes(1234.5, None, {"symbol": 300.0, "trade id": 12345.6}))
    "rate = 1230, distinct = 'symbol: 300, `trade id`: 12300'"
    """
    options = []
    if sizes.rate is not None:
        options.append(f"rate = {_digits(sizes.rate, digits)}")
    if sizes.rows is not None:
        options.append(f"rows = {_digits(sizes.rows, digits)}")
    if sizes.distinct:
        options.append(f"distinct = '{_distinct_text(sizes.distinct, digits)}'")
    return ", ".join(options)


def _distinct_text(distinct: Mapping[str, float], digits: int) -> str:
    names = (c if c.isidentifier() else f"`{c}`" for c in distinct)
    return ", ".join(
        f"{name}: {_digits(n, digits)}" for name, n in zip(names, distinct.values(), strict=True)
    )


def _digits(value: float, digits: int) -> str:
    rounded = float(f"{value:.{digits}g}")
    return str(int(rounded)) if rounded == int(rounded) else f"{rounded:.12f}".rstrip("0")


def _good_rows(reader: RowReader, rows: pa.Table) -> tuple[pa.Table, pa.Array, int]:
    """The good rows, their event times, and the number of bad rows."""
    typed = reader.read(rows)
    names = [f.name for f in reader.definition.schema]
    table = pa.Table.from_arrays(typed.columns, names=names)
    if typed.reasons is None:
        return table, typed.times, 0
    is_good = typed.reasons.is_null()
    good = table.filter(is_good)
    return good, typed.times.filter(is_good), table.num_rows - good.num_rows


def _sizes(rows: pa.Table, times: pa.Array, columns: Collection[str]) -> DeclaredSizes:
    distinct = {
        c: max(1.0, round(population(_distinct(rows[c]), rows.num_rows)))
        for c in columns
        if rows.num_rows
    }
    ts = raw_values(times, np.dtype(np.int64))
    return DeclaredSizes(rate_of(np.sort(ts)), None, distinct)


def rate_of(ts: Array) -> float | None:
    """Rows per second between the timestamps of rows, in order, in us; None if no time passes."""
    skip = round(_OUTLIERS * ts.size) if ts.size >= _LARGE else 0
    middle = ts[skip : ts.size - skip]
    us = int(middle[-1] - middle[0]) if middle.size else 0
    return (middle.size - 1) * 1e6 / us if us else None


def _distinct(values: pa.ChunkedArray) -> int:
    return int(pc.count_distinct(values, mode="all").as_py())
