"""Random rows.

Domains are small, so that joins and groups have results; steps are small, so that timestamps tie
and rows expire exactly at the timestamps of others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from hypothesis import strategies as st

from eddyline.algebra.plan import Updates
from eddyline.testing.live import change_schema
from eddyline.types import TIMESTAMP

STEP_US: Final = 1_000_000

#: The streams of random queries; their ``k`` differ in type, so that joins convert.
STREAMS: Final[Mapping[str, pa.Schema]] = {
    name: pa.schema(
        [
            ("ts", TIMESTAMP),
            ("k", pa.int32() if name == "b" else pa.int64()),
            ("s", pa.string()),
            ("d", pa.float64()),
            ("v", pa.int64()),
        ]
    )
    for name in "abcd"
}
#: The columns of the tables of random queries, and the kind of updates of each table.
DIM: Final = pa.schema([("k", pa.int64()), ("s", pa.string()), ("w", pa.int64())])
TABLES: Final[Mapping[str, Updates]] = {
    "dim": "static",
    "live": "retroactive",
    "nrr": "non-retroactive",
}

KEYS: Final = st.sampled_from([1, 1, 1, 2, 2, 2, 0, 0, 3, None])
STRINGS: Final = st.sampled_from(["x", "x", "x", "yy", "yy", "y", "", None])
DOUBLES: Final = st.sampled_from([1.0, 1.0, 0.5, 2.0, 0.0, -1.25, math.nan, None])
VALUES: Final = st.sampled_from([1, 1, 2, 2, 3, 0, 5, -2, None])


@dataclass(frozen=True)
class Arrival:
    """An input row: its stream and its values in the stream's order of columns; or a change of a
    live table: its name, and ``_ts``, ``_op`` and the values.
    """

    stream: str
    row: tuple[Any, ...]


@st.composite
def arrivals(
    draw: st.DrawFn,
    names: Sequence[str],
    lateness: int,
    max_rows: int = 36,
    tables: Mapping[str, pa.Table] | None = None,
) -> list[Arrival]:
    """Rows of several streams in the order of arrival, and changes of tables among them.

    Most are in order; some lag by up to ``lateness`` steps, a few by more (these may be late) and a
    few have no timestamp. Time moves in bursts (no step), small steps and gaps. Tables change half
    a step after rows, so that no change ties with a row; most changes with ``-`` delete an existing
    row, some none.
    """
    lag = st.sampled_from([0, 0, 0, 0, *range(lateness + 1), lateness + 3])
    row = st.tuples(
        st.sampled_from([*names, *(tables or {})]),
        st.sampled_from([0, 0, 0, 0, 1, 1, 2, 5]),
        lag,
        st.integers(0, 40),  # a row without timestamp at 40: shrinks towards rows with one
        KEYS,
        STRINGS,
        DOUBLES,
        VALUES,
    )
    current = {n: [tuple(r.values()) for r in t.to_pylist()] for n, t in (tables or {}).items()}
    now, rows = 3, []
    least = draw(st.sampled_from([0, 12, 20, 28]))
    for name, step, behind, luck, *payload in draw(
        st.lists(row, min_size=least, max_size=max_rows)
    ):
        now += step
        ts = None if luck == 40 else max(now - behind, 0) * STEP_US
        if name not in current:
            rows.append(Arrival(name, (ts, *payload)))
            continue
        k, s, _, w = payload
        op, change = _change(current[name], luck, (k, s, w))
        rows.append(Arrival(name, (None if ts is None else ts + STEP_US // 2, op, *change)))
    return rows


def _change(
    current: list[tuple[Any, ...]], luck: int, new: tuple[Any, ...]
) -> tuple[str, tuple[Any, ...]]:
    """A row to insert or delete, chosen by a number from 0 to 40; updates ``current``."""
    if luck < 20 or luck == 40:
        current.append(new)
        return "+", new
    if current and luck < 37:
        return "-", current.pop(luck % len(current))
    return "-", new


def tables_of(rows: Sequence[Arrival], names: Sequence[str]) -> dict[str, pa.Table]:
    """One table per stream or live table of ``names``, also without rows.

    If all changes are insertions, they have no column ``_op``.
    """
    found = {}
    for name in names:
        own = [r.row for r in rows if r.stream == name]
        if name in STREAMS:
            found[name] = _table(STREAMS[name], own)
        else:
            changes = _table(change_schema(DIM), own)
            found[name] = changes.drop(["_op"]) if {r[1] for r in own} == {"+"} else changes
    return found


def dimensions() -> st.SearchStrategy[pa.Table]:
    """Contents of a table, with duplicates and NULLs."""
    rows = st.lists(st.tuples(KEYS, STRINGS, VALUES), max_size=6)
    return rows.map(lambda found: _table(DIM, found))


def _table(schema: pa.Schema, rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    columns = [[row[i] for row in rows] for i in range(len(schema))]
    arrays = [pa.array(c, type_) for c, type_ in zip(columns, schema.types, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
