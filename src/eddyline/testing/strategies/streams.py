"""Random rows, made to meet.

Small domains, so that joins and groups have results; small steps, so that timestamps tie and
windows are hit on their boundary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from hypothesis import strategies as st

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
#: The static table of random queries.
DIM: Final = pa.schema([("k", pa.int64()), ("s", pa.string()), ("w", pa.int64())])

KEYS: Final = st.sampled_from([1, 1, 1, 2, 2, 2, 0, 0, 3, None])
STRINGS: Final = st.sampled_from(["x", "x", "x", "yy", "yy", "y", "", None])
DOUBLES: Final = st.sampled_from([1.0, 1.0, 0.5, 2.0, 0.0, -1.25, None])
VALUES: Final = st.sampled_from([1, 1, 2, 2, 3, 0, 5, -2, None])


@dataclass(frozen=True)
class Arrival:
    """One row as it arrives: its stream and its values in the stream's order of columns."""

    stream: str
    row: tuple[Any, ...]


@st.composite
def arrivals(
    draw: st.DrawFn, names: Sequence[str], lateness: int, max_rows: int = 36
) -> list[Arrival]:
    """Rows of several streams in the order of arrival.

    Most come in order; some lag by up to ``lateness`` steps, a few by more (these may be late)
    and a few have no timestamp. Time moves in bursts (no step), small steps and gaps.
    """
    lag = st.sampled_from([0, 0, 0, 0, *range(lateness + 1), lateness + 3])
    row = st.tuples(
        st.sampled_from(list(names)),
        st.sampled_from([0, 0, 0, 0, 1, 1, 2, 5]),
        lag,
        st.integers(0, 40),  # a row without timestamp at 40: shrinks towards rows with one
        KEYS,
        STRINGS,
        DOUBLES,
        VALUES,
    )
    now, rows = 3, []
    least = draw(st.sampled_from([0, 12, 20, 28]))
    for stream, step, behind, broken, *payload in draw(
        st.lists(row, min_size=least, max_size=max_rows)
    ):
        now += step
        ts = None if broken == 40 else max(now - behind, 0) * STEP_US
        rows.append(Arrival(stream, (ts, *payload)))
    return rows


def tables_of(rows: Sequence[Arrival], names: Sequence[str]) -> dict[str, pa.Table]:
    """One table per stream of ``names``, also where there is no row for it."""
    return {
        name: _table(STREAMS[name], [r.row for r in rows if r.stream == name]) for name in names
    }


def dimensions() -> st.SearchStrategy[pa.Table]:
    """Contents of the static table, with duplicates and nulls."""
    rows = st.lists(st.tuples(KEYS, STRINGS, VALUES), max_size=6)
    return rows.map(lambda found: _table(DIM, found))


def _table(schema: pa.Schema, rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    columns = [[row[i] for row in rows] for i in range(len(schema))]
    arrays = [pa.array(c, type_) for c, type_ in zip(columns, schema.types, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
