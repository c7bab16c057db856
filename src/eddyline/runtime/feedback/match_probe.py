"""Probes for matches: whether a row could be joined with rows further up the tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from eddyline.kernels.common_keys import have_common
from eddyline.runtime.batch import Batch, Evaluator, paired
from eddyline.runtime.feedback.key_index import KeyIndex, KeySet
from eddyline.runtime.join_inputs.buffer import InputBuffer
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import join_keys


@dataclass(frozen=True, slots=True)
class Matches:
    """Whether rows have a match.

    Attributes:
        there: bool[n], which rows have one.
        keys: int64[n], keys of the matches of rows without one.
        usable: bool[n], which rows may ever have one (not those with NULL in the key); None: all.
    """

    there: Array
    keys: Array
    usable: Array | None


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Rows that stay suspended.

    Attributes:
        rows, keys: int64[m], numbers of rows, by ascending position, and keys of their matches.
    """

    rows: Array
    keys: Array


#: The rows at positions.
RowsAt: TypeAlias = Callable[[Array], Batch]


class MatchProbe(Protocol):
    """Finds out whether rows have a match of one kind."""

    def fresh(self) -> Array:
        """Keys, as of ``Matches``, of the matches that came with this chunk."""

    def keys_of(self, rows: Batch) -> tuple[Array, Array | None]:
        """``Matches.keys`` and ``Matches.usable`` of rows."""

    def find(self, rows: Batch, ts: Array) -> Matches:
        """Probe for rows; rows that expire by ``ts`` are no matches."""

    def unmatched(self, rows_at: RowsAt, positions: Array, clock: int) -> Unmatched | None:
        """Which of the rows suspended for fresh keys have no match all the same; None: no row."""

    def acquire(self) -> None:
        """Maintain what is probed."""

    def release(self) -> None:
        """Do not maintain it for a while."""

    def close(self) -> None:
        """There will be no more probes."""


class KeyProbe:
    """Probes for a row of one input with equal keys; without keys for any row, as DOE does.

    Source: Yang and Papadias 2008, section II on DOE, III-A; on static relations section V.

    Args:
        keys: over the rows that probe.
        at_once: a match that is missing at the time of the probe will never come.
    """

    def __init__(self, keys: Sequence[Evaluator], rows: KeySet, *, at_once: bool = False) -> None:
        self._keys = tuple(keys)
        self._rows = rows
        self._at_once = at_once
        self.acquire()

    def acquire(self) -> None:
        self._rows.acquire()

    def release(self) -> None:
        self._rows.release()

    def close(self) -> None:
        self._rows.drop_reader()

    def fresh(self) -> Array:
        return self._rows.fresh

    def unmatched(self, rows_at: RowsAt, positions: Array, clock: int) -> Unmatched | None:
        """No row: equal keys suffice."""
        return None

    def keys_of(self, rows: Batch) -> tuple[Array, Array | None]:
        return join_keys([k(rows) for k in self._keys], len(rows))

    def find(self, rows: Batch, ts: Array) -> Matches:
        keys, usable = self.keys_of(rows)
        there = self._rows.exist(keys, ts)
        if usable is not None:
            there &= usable
        return Matches(there, keys, there if self._at_once else usable)


class NewPairs(Operator):
    """The pairs of rows of two inputs that the chunk has completed; they are not stored.

    Args:
        links: the two inputs by the keys that they are joined on.

    Attributes:
        users: number of probes; without any it does nothing.
    """

    def __init__(
        self, inputs: tuple[InputBuffer, InputBuffer], links: tuple[KeyIndex, KeyIndex]
    ) -> None:
        super().__init__(inputs)
        self._buffers = inputs
        self.links = links
        self.users = 0
        self.fresh: Batch | None = None

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (left, right), (l_buffer, r_buffer) = self.links, self._buffers
        if self.users == 0:
            nothing = np.zeros(0, np.int64)
            return paired(l_buffer.rows_at(nothing), r_buffer.rows_at(nothing))
        l_ts = l_buffer.rows.store.lane_at("ts", left.fresh_positions)
        r_ts = r_buffer.rows.store.lane_at("ts", right.fresh_positions)
        l_by, r_found = right.find(left.fresh, l_ts)
        r_by, l_found = left.find(right.fresh, r_ts)
        older = l_found < left.fresh_positions.min(initial=np.iinfo(np.int64).max)
        l_at = np.concatenate((left.fresh_positions[l_by], l_found[older]))
        r_at = np.concatenate((r_found, right.fresh_positions[r_by[older]]))
        self.fresh = paired(l_buffer.rows_at(l_at), r_buffer.rows_at(r_at))
        return self.fresh

    def live(self, clock: int) -> Batch:
        raise AssertionError("only probes of its own tree read the pairs")

    def close(self) -> None:
        for link in self.links:
            link.drop_reader()


class PairProbe:
    """Probes for a row of each of two inputs, with equal keys, which join with each other.

    Args:
        keys: over the rows that probe: those that must be equal to the one's, and to the other's.
        others: the same keys over the columns of pairs.
    """

    def __init__(
        self,
        pairs: NewPairs,
        keys: tuple[Sequence[Evaluator], Sequence[Evaluator]],
        rows: tuple[KeyIndex, KeyIndex],
        others: Sequence[Evaluator],
    ) -> None:
        self._pairs = pairs
        self._keys = keys
        self._rows = rows
        self._others = tuple(others)
        self.acquire()

    def acquire(self) -> None:
        self._pairs.users += 1
        for index in (*self._rows, *self._pairs.links):
            index.acquire()

    def release(self) -> None:
        self._pairs.users -= 1
        for index in (*self._rows, *self._pairs.links):
            index.release()

    def close(self) -> None:
        for index in self._rows:
            index.drop_reader()

    def fresh(self) -> Array:
        assert self._pairs.fresh is not None, "they run first"
        rows = self._pairs.fresh
        keys, usable = join_keys([k(rows) for k in self._others], len(rows))
        return keys if usable is None else keys[usable]

    def unmatched(self, rows_at: RowsAt, positions: Array, clock: int) -> None:
        """Equal keys suffice."""

    def keys_of(self, rows: Batch) -> tuple[Array, Array | None]:
        return join_keys([k(rows) for keys in self._keys for k in keys], len(rows))

    def find(self, rows: Batch, ts: Array) -> Matches:
        columns = [[k(rows) for k in keys] for keys in self._keys]
        keys, usable = join_keys(columns[0] + columns[1], len(rows))
        probing = np.arange(len(rows)) if usable is None else np.flatnonzero(usable)
        lists = []
        for own, index, link in zip(columns, self._rows, self._pairs.links, strict=True):
            by, positions = index.find(join_keys(own, len(rows))[0][probing], ts[probing])
            links, known = link.keys_at(positions)
            lists += [by[known], links[known]]
        there = np.zeros(len(rows), np.bool_)
        there[probing] = have_common(lists[0], lists[1], lists[2], lists[3], probing.size)
        return Matches(there, keys, usable)
