"""Rows by their expiry: those due by an instant, in the order of expiry.

Three structures behind one interface (Golab and Ozsu 2005, sections 2.3.3 and 5.3.2). WKS input
expires in the order in which it comes: a queue. WK input does not: partitions by expiry time, only
the nearest of which is ever sorted. A list in the order of arrival takes either, and is scanned
for what is due: what the DIRECT strategy does, which knows no patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, order_by
from eddyline.types import FOREVER


class ExpiryStore(Protocol):
    """Rows of parallel arrays, the first being ``exp`` (int64)."""

    @property
    def text(self) -> str:
        """The structure, and the update pattern that it is for."""

    def push(self, rows: Sequence[Array]) -> None:
        """Add rows, none of them FOREVER."""

    def push_late(self, rows: Sequence[Array]) -> None:
        """The same, whatever others were pushed before."""

    def pop(self, clock: int) -> list[Array]:
        """Remove and return the rows with ``exp <= clock``, by exp and then in order of arrival."""

    def peek(self) -> list[Array]:
        """All rows, in any order."""

    def __len__(self) -> int: ...

    def state(self) -> State:
        """Saved as plain arrays."""

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""


def text_of(expiries: ExpiryStore | None) -> str:
    """The structure in which rows wait for their expiry; None: each leaves by a '-'."""
    return "by '-' alone (negative tuples)" if expiries is None else expiries.text


def _cut(rows: Sequence[Array], start: int, end: int) -> list[Array]:
    return [r[start:end] for r in rows]


def _concat(parts: Sequence[Sequence[Array]], dtypes: Sequence[Any]) -> list[Array]:
    if not parts:
        return [np.zeros(0, d) for d in dtypes]
    return [np.concatenate(lanes) for lanes in zip(*parts, strict=True)]


def _save(rows: Sequence[Array]) -> State:
    return {str(i): r for i, r in enumerate(rows)}


def _load(state: State, dtypes: Sequence[Any]) -> list[Array]:
    return [array(state, str(i)).astype(d) for i, d in enumerate(dtypes)]


class FifoStore:
    """A queue of pieces as they were pushed; each row is copied once on its way out."""

    text = "a queue by expiry (WKS)"

    def __init__(self, dtypes: Sequence[Any]) -> None:
        self._dtypes = list(dtypes)
        self._none = [np.zeros(0, d) for d in dtypes]
        self._pieces: list[list[Array]] = []
        self._done = 0  # pieces before this one are used up

    def push(self, rows: Sequence[Array]) -> None:
        if rows[0].size:
            self._pieces.append(list(rows))

    def push_late(self, rows: Sequence[Array]) -> None:
        held = [np.concatenate(pair) for pair in zip(self.peek(), rows, strict=True)]
        order = np.argsort(held[0], kind="stable")
        self._pieces, self._done = [], 0
        self.push([lane[order] for lane in held])

    def pop(self, clock: int) -> list[Array]:
        if self._done == len(self._pieces) or self._pieces[self._done][0][0] > clock:
            return list(self._none)
        out = []
        while self._done < len(self._pieces):
            piece = self._pieces[self._done]
            due = int(piece[0].searchsorted(clock, "right"))
            if due:
                out.append(_cut(piece, 0, due))
            if due < piece[0].size:
                self._pieces[self._done] = _cut(piece, due, piece[0].size)
                break
            self._pieces[self._done] = []
            self._done += 1
        if 2 * self._done > len(self._pieces):
            del self._pieces[: self._done]
            self._done = 0
        return _concat(out, self._dtypes)

    def peek(self) -> list[Array]:
        return _concat(self._pieces[self._done :], self._dtypes)

    def __len__(self) -> int:
        return sum(p[0].size for p in self._pieces[self._done :])

    def state(self) -> State:
        return _save(self.peek())

    def restore(self, state: State) -> None:
        self._pieces, self._done = [], 0
        self.push(_load(state, self._dtypes))


class PartitionedStore:
    """A calendar of partitions by expiry time.

    Future partitions are bags of pieces. The partition of the clock is kept as sorted
    runs, each at least twice as long as the next: popping costs O(runs + rows due), and a row is
    merged O(log of the partition) times, whatever is added to it.
    """

    def __init__(self, dtypes: Sequence[Any], width_us: int) -> None:
        self._dtypes = list(dtypes)
        self._width = width_us
        self._future: dict[int, list[list[Array]]] = {}
        self._current = -FOREVER  # number of the partition whose rows are in the runs
        self._runs: list[list[Array]] = []

    @property
    def text(self) -> str:
        return f"partitions of {self._width / 1_000:g} ms by expiry (WK)"

    def push(self, rows: Sequence[Array]) -> None:
        numbers = np.maximum(rows[0] // self._width, self._current)
        if numbers.size == 0:
            return
        order = order_by(numbers, rows[1])
        numbers, rows = numbers[order], [r[order] for r in rows]
        cuts = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
        bounds = [0, *cuts.tolist(), numbers.size]
        for start, end in pairwise(bounds):
            piece = [r[start:end].copy() for r in rows]  # no part of it outlives its partition
            number = int(numbers[start])
            if number == self._current:
                self._add_run(piece)
            else:
                self._future.setdefault(number, []).append(piece)

    def push_late(self, rows: Sequence[Array]) -> None:
        self.push(rows)

    def pop(self, clock: int) -> list[Array]:
        target = clock // self._width
        out: list[list[Array]] = []
        if target > self._current:
            out.extend(self._runs)
            for number in [n for n in self._future if n < target]:
                out.extend(self._future.pop(number))
            self._runs = []
            self._current = target
            pieces = self._future.pop(target, [])
            if pieces:
                self._add_run(_concat(pieces, self._dtypes))
        remaining = []
        for run in self._runs:
            due = int(np.searchsorted(run[0], clock, "right"))
            if due:
                out.append(_cut(run, 0, due))
            if due < run[0].size:
                remaining.append(_cut(run, due, run[0].size))
        self._runs = remaining
        return _by_expiry(_concat(out, self._dtypes))

    def _add_run(self, rows: list[Array]) -> None:
        run = _by_expiry(rows)
        while self._runs and self._runs[-1][0].size < 2 * run[0].size:
            run = _by_expiry(_concat([self._runs.pop(), run], self._dtypes))
        self._runs.append(run)

    def peek(self) -> list[Array]:
        parts = [p for pieces in self._future.values() for p in pieces]
        return _concat([*self._runs, *parts], self._dtypes)

    def __len__(self) -> int:
        waiting = sum(p[0].size for pieces in self._future.values() for p in pieces)
        return waiting + sum(r[0].size for r in self._runs)

    def state(self) -> State:
        return {"rows": _save(self.peek()), "current": np.array([self._current], np.int64)}

    def restore(self, state: State) -> None:
        self._future, self._runs = {}, []
        self._current = int(array(state, "current")[0])
        self.push(_load(nested(state, "rows"), self._dtypes))


class ListStore:
    """Rows in the order of arrival. Popping scans them all; places are reclaimed by halves."""

    text = "a list that is scanned for expired rows"
    _GONE = FOREVER + 1  # exp of a row that was popped

    def __init__(self, dtypes: Sequence[Any]) -> None:
        self._dtypes = list(dtypes)
        self._rows = [np.zeros(64, d) for d in dtypes]
        self._used = 0
        self._gone = 0

    def push(self, rows: Sequence[Array]) -> None:
        count = rows[0].size
        if self._used + count > self._rows[0].size:
            self._make_room(count)
        for lane, new in zip(self._rows, rows, strict=True):
            lane[self._used : self._used + count] = new
        self._used += count

    def push_late(self, rows: Sequence[Array]) -> None:
        self.push(rows)

    def pop(self, clock: int) -> list[Array]:
        due = self._due(clock)
        out = [lane[due] for lane in self._rows]
        self._remove(due)
        return _by_expiry(out)

    def discard(self, clock: int) -> None:
        """Remove the rows with ``exp <= clock``."""
        self._remove(self._due(clock))

    def compact(self) -> list[Array]:
        """All rows, in the order of arrival, where they are; valid until the next call."""
        if self._gone:
            for lane, kept in zip(self._rows, self.peek(), strict=True):
                lane[: kept.size] = kept
            self._used, self._gone = len(self), 0
        return [lane[: self._used] for lane in self._rows]

    def _due(self, clock: int) -> Array:
        return np.flatnonzero(self._rows[0][: self._used] <= clock)

    def _remove(self, places: Array) -> None:
        self._rows[0][places] = self._GONE
        self._gone += places.size

    def peek(self) -> list[Array]:
        left = self._rows[0][: self._used] != self._GONE
        return [lane[: self._used][left] for lane in self._rows]

    def __len__(self) -> int:
        return self._used - self._gone

    def _make_room(self, count: int) -> None:
        kept = self.peek()
        self._used, self._gone = kept[0].size, 0
        capacity = self._rows[0].size
        while self._used + count > capacity // 2:
            capacity *= 2
        for i, lane in enumerate(kept):
            if self._rows[i].size != capacity:
                self._rows[i] = np.zeros(capacity, self._dtypes[i])
            self._rows[i][: lane.size] = lane

    def state(self) -> State:
        return _save(self.peek())

    def restore(self, state: State) -> None:
        self._used = self._gone = 0
        self.push(_load(state, self._dtypes))


def uncancelled(exp: Array, sign: Array, ids: Sequence[Array]) -> Array:
    """Which of the rows that are due really expire: int64 numbers, in their order.

    A row that was taken back waits twice, as '+' and as '-', with the same ``exp`` and ids: where
    the signs of such a family add up to nothing, nothing of it is left; otherwise its last '+',
    for what a group's row said of its slot may be outdated once it was taken back.
    """
    if (sign > 0).all():
        return np.arange(exp.size)
    order = np.lexsort((np.arange(exp.size), -sign.astype(np.int64), *ids, exp))
    starts = np.ones(exp.size, np.bool_)
    starts[1:] = exp[order[1:]] != exp[order[:-1]]
    for lane in ids:
        starts[1:] |= lane[order[1:]] != lane[order[:-1]]
    heads = np.flatnonzero(starts)
    left = np.add.reduceat(sign[order].astype(np.int64), heads) > 0
    last = heads + np.add.reduceat((sign[order] > 0).astype(np.int64), heads) - 1
    return np.sort(order[last[left]])


def _by_expiry(rows: list[Array]) -> list[Array]:
    """Rows by (exp, order of arrival); the second array of every store is that order."""
    order = order_by(rows[0], rows[1])
    return [r[order] for r in rows]
