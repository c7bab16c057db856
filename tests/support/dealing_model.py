"""A slow model of dealing: which rows each cell of a layout has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.engine.ingest.row_reader import ELSEWHERE, OWN, ROLE
from eddyline.physical.expressions import compile_expr
from eddyline.spark.partitioning.layouts import ByKey, Copied, Layout


class _Rows:
    """The columns of a table."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def column(self, index: int) -> pa.Array:
        return self._table.column(index).combine_chunks()

    def __len__(self) -> int:
        return int(self._table.num_rows)


def dealt(layout: Layout, rows: Mapping[str, pa.Table]) -> list[dict[str, pa.Table]]:
    """The rows of each cell, in their order; of counted streams all rows, with their roles.

    Args:
        rows: of inputs of the layout, with the columns that keys refer to by ordinal; changes of
            tables have two more in front.
    """
    cells = {layout.coordinates(cell): cell for cell in range(layout.cells)}
    found: list[dict[str, list[int]]] = [{n: [] for n in rows} for _ in cells]
    for name, table in rows.items():
        keys = [
            [compile_expr(e)(_Rows(_content(table))).to_pylist() for e in c.key]
            if isinstance(c, ByKey)
            else []
            for c in layout.inputs[name]
        ]
        for row in range(table.num_rows):
            along = [
                range(axis.size)
                if isinstance(coordinate, Copied)
                else [_hash(tuple(part[row] for part in key)) % axis.size]
                if isinstance(coordinate, ByKey)
                else [row % axis.size]
                for axis, coordinate, key in zip(
                    layout.axes, layout.inputs[name], keys, strict=True
                )
            ]
            for coordinates in product(*along):
                found[cells[coordinates]][name].append(row)
    return [
        {n: _marked(rows[n], own) if n in layout.counted else rows[n].take(own) for n, own in c}
        for c in ([(n, pa.array(i, pa.int64())) for n, i in of.items()] for of in found)
    ]


def _content(rows: pa.Table) -> pa.Table:
    """Without the instants and operations of changes."""
    return rows.select([name for name in rows.column_names if name not in ("_ts", "_op")])


def _marked(rows: pa.Table, own: pa.Array) -> pa.Table:
    """All rows with their roles."""
    is_own = pc.is_in(pa.array(range(rows.num_rows)), own)
    return rows.append_column(ROLE, pc.if_else(is_own, OWN, ELSEWHERE))


def _hash(key: tuple[Any, ...]) -> int:
    """Equal for equal keys: NULL and NULL, NaN and NaN, 0.0 and -0.0."""
    plain = tuple(
        "NaN" if isinstance(v, float) and math.isnan(v) else v + 0.0 if isinstance(v, float) else v
        for v in key
    )
    return sum(map(ord, repr(plain))) * 2_654_435_761 >> 7
