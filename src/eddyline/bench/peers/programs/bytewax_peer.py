"""Bytewax: a keyed operator with state, whose logic is Python and sees one row after the other."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.bench.peers.bags import Bag, bag_of
from eddyline.bench.peers.cases import Case, key_texts, read_case, read_columns
from eddyline.bench.peers.programs.serve import serve

#: What can be said by a state per key that only a row of this key changes.
KINDS: Final = ("join", "over")
_BATCH_ROWS: Final = 1_000


def main(folder: Path) -> None:
    """Serve the case in a folder."""
    case = read_case(folder)
    rows = rows_of(case, folder)
    serve(lambda _: prepare(case, rows))


def rows_of(case: Case, folder: Path) -> list[Any]:
    """All rows in the order of time: the key as a string, as Bytewax wants it, and the row."""
    streams = []
    for number, stream in enumerate(case.streams):
        columns = read_columns(folder, stream, ("ts", *case.columns))
        keys = columns["k"]
        names = key_texts(keys).tolist() if case.string_keys else keys.astype(np.str_).tolist()
        sides = [number] * case.rows
        row = zip(sides, columns["ts"].tolist(), columns["v"].tolist(), strict=True)
        streams.append(list(zip(names, row, strict=True)))
    return [one for together in zip(*streams, strict=True) for one in together]


def prepare(case: Case, rows: list[Any]) -> Callable[[], Bag]:
    """A flow with an empty state."""
    import bytewax.operators as op
    from bytewax.dataflow import Dataflow
    from bytewax.testing import TestingSink, TestingSource, run_main

    found: list[Any] = []
    flow = Dataflow("peer")
    keyed = op.input("rows", flow, TestingSource(rows, batch_size=_BATCH_ROWS))
    step = joined(case.window_us) if case.kind == "join" else framed(case.window_us)
    op.output("found", op.stateful_flat_map("state", keyed, step), TestingSink(found))

    def run() -> Bag:
        run_main(flow)
        return _bag(case, found)

    return run


def joined(window_us: int) -> Callable[[Any, Any], tuple[Any, list[Any]]]:
    """The rows of both sides that are in the window; a row meets those of the other side."""

    def step(state: Any, row: Any) -> tuple[Any, list[Any]]:
        state = (deque(), deque()) if state is None else state
        side, ts, v = row
        others = state[1 - side]
        while others and others[0][0] + window_us <= ts:
            others.popleft()
        state[side].append((ts, v))
        return state, [(o, v) if side else (v, o) for _, o in others]

    return step


def framed(window_us: int) -> Callable[[Any, Any], tuple[Any, list[Any]]]:
    """The rows of a key in the frame, and their sum."""

    def step(state: Any, row: Any) -> tuple[Any, list[Any]]:
        rows, total = (deque(), 0) if state is None else state
        _, ts, v = row
        rows.append((ts, v))
        total += v
        while rows[0][0] + window_us < ts:
            total -= rows.popleft()[1]
        return (rows, total), [(ts, len(rows), total)]

    return step


def _bag(case: Case, found: list[Any]) -> Bag:
    if not found:
        return Bag(0, 0)
    keys, values = zip(*found, strict=True)
    columns = list(np.array(values, np.int64).T)
    key = pa.array(keys) if case.string_keys else np.array(keys).astype(np.int64)
    return bag_of([columns[0], key, *columns[1:]] if case.kind == "over" else [key, *columns])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
