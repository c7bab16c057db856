"""The rows of a materialised answer, until they expire. Nothing here is sorted.

Who reads an answer skips what has expired; so expired rows may stay for a while, and each structure
says how long: the queue and the list drop them at once, a calendar by whole partitions.

Source: Golab and Ozsu 2005, section 5.3.2.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from eddyline.runtime.columns import Array
from eddyline.runtime.expiry import ListStore
from eddyline.runtime.state import State, array


class AnswerStore(Protocol):
    """Rows of parallel int64 arrays, the first being ``exp``."""

    def push(self, rows: Sequence[Array]) -> None:
        """Add rows."""

    def drop(self, clock: int) -> None:
        """Forget rows with ``exp <= clock``, now or later."""

    def rows(self) -> list[Array]:
        """All rows, among them perhaps some that have expired."""

    def __len__(self) -> int: ...


class AnswerQueue:
    """For WKS patterns: rows expire in the order in which they come."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._pieces: deque[list[Array]] = deque()
        self._count = 0

    def push(self, rows: Sequence[Array]) -> None:
        if rows[0].size:
            self._pieces.append(list(rows))
            self._count += rows[0].size

    def drop(self, clock: int) -> None:
        while self._pieces and self._pieces[0][0][-1] <= clock:
            self._count -= self._pieces.popleft()[0].size

    def rows(self) -> list[Array]:
        return concatenated(list(self._pieces), self._width)

    def __len__(self) -> int:
        return self._count


class AnswerCalendar:
    """For WK and STR patterns: a circular array of partitions by expiry time (Figure 7)."""

    def __init__(self, width: int, partition_us: int) -> None:
        self._width = width
        self._partition = partition_us
        self._pieces: dict[int, list[list[Array]]] = {}
        self._count = 0

    def push(self, rows: Sequence[Array]) -> None:
        numbers = rows[0] // self._partition
        if numbers.size == 0:
            return
        self._count += numbers.size
        order = _stable_order(numbers)
        numbers = numbers[order]
        rows = [lane[order] for lane in rows]
        cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), numbers.size]
        for start, end in itertools.pairwise(cuts):
            piece = [lane[start:end] for lane in rows]
            self._pieces.setdefault(int(numbers[start]), []).append(piece)

    def drop(self, clock: int) -> None:
        over = clock // self._partition
        for number in [n for n in self._pieces if n < over]:
            self._count -= sum(piece[0].size for piece in self._pieces.pop(number))

    def rows(self) -> list[Array]:
        return concatenated([p for pieces in self._pieces.values() for p in pieces], self._width)

    def __len__(self) -> int:
        return self._count


class AnswerList:
    """Rows in the order of arrival, all of them scanned for what has expired: DIRECT."""

    def __init__(self, width: int) -> None:
        self._store = ListStore([np.int64] * width)

    def push(self, rows: Sequence[Array]) -> None:
        self._store.push(rows)

    def drop(self, clock: int) -> None:
        self._store.discard(clock)

    def rows(self) -> list[Array]:
        return self._store.peek()

    def __len__(self) -> int:
        return len(self._store)


def _stable_order(numbers: Array) -> Array:
    """The order that sorts int64 numbers, those that lie close together by radix."""
    first = numbers.min()
    if numbers.max() - first < 1 << 15:
        numbers = (numbers - first).astype(np.int16)
    return np.argsort(numbers, kind="stable")


def concatenated(pieces: Sequence[Sequence[Array]], width: int) -> list[Array]:
    """The pieces one behind the other, lane by lane."""
    if not pieces:
        return [np.zeros(0, np.int64) for _ in range(width)]
    return [np.concatenate(lanes) for lanes in zip(*pieces, strict=True)]


def saved(store: AnswerStore) -> State:
    """The rows of a store as plain arrays."""
    return {str(i): lane for i, lane in enumerate(store.rows())}


def refill(store: AnswerStore, state: State, width: int) -> None:
    """Put the rows that ``saved`` returned into an empty store."""
    store.push([array(state, str(i)) for i in range(width)])
