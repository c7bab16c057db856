"""From when to when the results of a query are valid, as an engine emits them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from eddyline import Engine

MINUTE_US: Final = 60_000_000
#: Rows by stream: the minute and the name of each.
Rows = Mapping[str, Sequence[tuple[float, str]]]


@dataclass
class Span:
    """The life of a result, in minutes.

    ``end``: None while it lasts. ``taken_back``: it ended before the expiry with which it came.
    """

    text: str
    start: float
    expiry: float | None
    end: float | None = None

    @property
    def taken_back(self) -> bool:
        return self.end is not None and self.end != self.expiry


def spans(sql: str, rows: Rows, until: float) -> tuple[list[Span], str]:
    """The lives of a query's results up to a minute, and the update pattern of the query.

    The query selects one column of text from streams with a time ``ts`` and a name ``id``.
    """
    engine = Engine()
    for stream in rows:
        engine.sql(f"CREATE STREAM {stream} (ts TIMESTAMP, id STRING, k BIGINT) TIMESTAMP BY ts")
    query = engine.query(f"{sql} EMIT CHANGES")
    pattern = query.explain().splitlines()[1].split()[-1]
    inputs = {stream: _table(listed) for stream, listed in rows.items()}
    changes = engine.process(inputs, watermark=int(until * MINUTE_US))[query.name]
    found: list[Span] = []
    for op, ts, exp, text in zip(*changes.to_pydict().values(), strict=True):
        at, expiry = _minutes(ts), _minutes(exp) if exp is not None else None
        if op == "+":
            found.append(Span(text, at, expiry))
        else:
            open_ = (s for s in found if s.text == text and s.end is None)
            next(open_).end = at
    return found, pattern


def _table(rows: Sequence[tuple[float, str]]) -> pa.Table:
    times = [int(minute * MINUTE_US) for minute, _ in rows]
    names = [name for _, name in rows]
    return pa.table({"ts": times, "id": names, "k": [0] * len(rows)})


def _minutes(instant: object) -> float:
    return float(pa.scalar(instant, pa.timestamp("us")).value / MINUTE_US)
