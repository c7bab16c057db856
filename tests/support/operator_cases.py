"""Operators under test: their inputs and outputs as text, chunk by chunk.

An input line is a change: ``_op``, ``_ts``, ``_exp`` (``.``: never by itself) and the columns.
A '-' takes back the last row with the same values and expiry.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import Batch, Evaluator, Stored
from eddyline.runtime.graph import run
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, flatten, unflatten
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.testing.text import batch, parse_time, pretty
from eddyline.types import FOREVER, TIMESTAMP, Field

#: A change: sign, instant, expiry, values of the columns.
Change = tuple[int, int, int, tuple[Any, ...]]


def column(index: int) -> Evaluator:
    """Reads a column of a batch."""
    return lambda batch: batch.column(index)


def changes(text: str) -> list[Change]:
    """The changes that a text shows."""
    table = batch(text)
    signs = [1 if op == "+" else -1 for op in table["_op"].to_pylist()]
    exp = table["_exp"].cast(pa.int64()).fill_null(FOREVER).to_pylist()
    names = [n for n in table.column_names if n not in ("_op", "_ts", "_exp")]
    values = zip(*(table[n].to_pylist() for n in names), strict=True)
    return list(zip(signs, table["_ts"].cast(pa.int64()).to_pylist(), exp, values, strict=True))


class Input(Operator):
    """An input with rows in a store of its own: BIGINT columns, the id of a row is its number."""

    def __init__(self, columns: int) -> None:
        super().__init__(())
        schema = tuple(Field(f"c{i}", pa.int64()) for i in range(columns))
        self.store = RowStore(schema, ["ts", "seq", "exp"])
        self._ids: dict[tuple[Any, ...], list[int]] = {}
        self._rows: dict[int, tuple[int, int, int]] = {}  # by id: ts, seq, exp

    def batch(self, rows: Sequence[tuple[int, Change]]) -> Batch:
        """Changes with their sequence numbers."""
        ids = []
        for seq, (sign, ts, exp, values) in rows:
            if sign > 0:
                columns = [pa.array([v], pa.int64()) for v in values]
                (row,) = self.store.append(1, {"ts": ts, "seq": seq, "exp": exp}, columns)
                self._ids.setdefault((values, exp), []).append(row)
                self._rows[row] = (ts, seq, exp)
            else:
                row = self._ids[values, exp].pop()
                del self._rows[row]
            ids.append(row)
        lanes = [[c[1] for _, c in rows], [s for s, _ in rows], [c[2] for _, c in rows]]
        ts_lane, seq_lane, exp_lane = (np.array(lane, np.int64) for lane in lanes)
        sign_lane = np.array([c[0] for _, c in rows], np.int8)
        return self._of(ts_lane, seq_lane, exp_lane, sign_lane, np.array(ids, np.int64))

    def live(self, clock: int) -> Batch:
        alive = [(r, *lanes) for r, lanes in self._rows.items() if lanes[2] > clock]
        row, ts, seq, exp = np.array(alive, np.int64).reshape(-1, 4).T
        return self._of(ts, seq, exp, np.ones(row.size, np.int8), row)

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        raise AssertionError("the test supplies its rows")

    def _of(self, ts: Any, seq: Any, exp: Any, sign: Any, ids: Any) -> Batch:
        cells = tuple(Stored(0, i) for i in range(len(self.store.schema)))
        return Batch(ts, seq, exp, sign, (ids,), (self.store,), cells)


class Run:
    """Runs an operator over changes of its inputs.

    Args:
        make: the operator over its inputs.
        columns: number of columns of each input.
    """

    def __init__(self, make: Callable[..., Operator], *columns: int) -> None:
        self._make = make
        self.inputs = [Input(n) for n in columns]
        self.operator = make(*self.inputs)
        self._events = 0

    def chunk(self, clock: str | int, *texts: str | Sequence[Change]) -> list[Change]:
        """The output changes of one chunk, which ends at ``clock``."""
        given = [changes(t) if isinstance(t, str) and t else list(t or ()) for t in texts]
        given += [[]] * (len(self.inputs) - len(given))
        events = sorted(
            ((c[1], n, i, c) for n, rows in enumerate(given) for i, c in enumerate(rows)),
            key=lambda event: event[:3],
        )
        by_input: list[list[tuple[int, Change]]] = [[] for _ in self.inputs]
        for _, n, _, change in events:
            by_input[n].append((2 * self._events + (change[0] > 0), change))
            self._events += 1
        batches = [i.batch(rows) for i, rows in zip(self.inputs, by_input, strict=True)]
        end = parse_time(clock) if isinstance(clock, str) else clock
        out = run(self.operator, batches, Tick(end, events[0][0] if events else None))
        found = rows_of(out)
        self.operator.settle(end)
        return found

    def live(self, clock: str) -> list[tuple[Any, ...]]:
        """The values of the output rows that are alive, sorted."""
        return sorted(values for *_, values in rows_of(self.operator.live(parse_time(clock))))

    def restart(self) -> None:
        """Go on with a new operator that restores the state of this one."""
        state: State = unflatten(dict(flatten(self.operator.state())))
        self.operator = self._make(*self.inputs)
        self.operator.restore(state)


def rows_of(out: Batch) -> list[Change]:
    """The changes of a batch; they are in order of time."""
    order = list(zip(out.ts.tolist(), out.seq.tolist(), strict=True))
    assert order == sorted(order)
    values = zip(*(c.to_pylist() for c in out.columns()), strict=True)
    return list(zip(out.sign.tolist(), out.ts.tolist(), out.exp.tolist(), values, strict=True))


def expect(found: Sequence[Change], text: str) -> None:
    """Check changes; a failure shows both as text."""
    wanted = changes(text) if text else []
    assert list(found) == wanted, f"expected:\n{shown(wanted)}\nfound:\n{shown(found)}"


def shown(rows: Sequence[Change]) -> str:
    """Changes as text."""
    width = len(rows[0][3]) if rows else 0
    times = [
        pa.array([None if t >= FOREVER else t for t in lane], pa.int64()).cast(TIMESTAMP)
        for lane in ([r[1] for r in rows], [r[2] for r in rows])
    ]
    values = [pa.array([r[3][i] for r in rows]) for i in range(width)]
    signs = pa.array(["+" if r[0] > 0 else "-" for r in rows])
    names = ["_op", "_ts", "_exp", *(f"c{i}" for i in range(width))]
    return pretty(pa.table([signs, *times, *values], names=names))


def random_changes(luck: random.Random, count: int, *, strict: bool) -> list[Change]:
    """Rows of one column that live up to five seconds; ``strict``: some are taken back earlier."""
    out: list[Change] = []
    for _ in range(count):
        ts, value = luck.randrange(20) * 500_000, (luck.randrange(3),)
        exp = ts + luck.randrange(1, 10) * 500_000
        out.append((1, ts, exp, value))
        if strict and luck.random() < 0.4:
            out.append((-1, luck.randrange(ts + 1, exp), exp, value))
    return sorted(out, key=lambda change: change[1])


def in_chunks(
    run: Run, inputs: Sequence[Sequence[Change]], ends: Sequence[int], *, restart: bool = False
) -> list[Change]:
    """All output changes of inputs that are cut into chunks at these instants."""
    out: list[Change] = []
    begin = 0
    for end in ends:
        parts = [[c for c in rows if begin < c[1] + 1 <= end] for rows in inputs]
        out += run.chunk(end - 1, *parts)
        begin = end
        if restart:
            run.restart()
    return out
