"""What consumers want of a row: that there be rows which it could be joined with further up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from eddyline.kernels.pairs import have_common
from eddyline.runtime.batch import Batch, Evaluator, paired
from eddyline.runtime.feedback.partners import Known, Partners
from eddyline.runtime.join_inputs.buffer import Kept
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import join_keys


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for rows.

    Attributes:
        there: bool[n], whether there is what is wanted.
        keys: int64[n], what a row without it waits for.
        usable: bool[n], whether it may ever come: it does not for a NULL. None: always.
    """

    there: Array
    keys: Array
    usable: Array | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows that go on waiting.

    Attributes:
        rows, keys: int64[m], numbers of rows, by ascending position, and what they wait for.
    """

    rows: Array
    keys: Array


#: The rows at positions.
RowsAt: TypeAlias = Callable[[Array], Batch]


class Wanted(Protocol):
    """One thing that is wanted of a row."""

    def fresh(self) -> Array:
        """Keys, as of ``Found``, of what has come with this chunk."""

    def keys_of(self, rows: Batch) -> tuple[Array, Array | None]:
        """What rows wait for if it is not there: keys, and which may ever come, as of ``Found``."""

    def find(self, rows: Batch, ts: Array) -> Found:
        """Ask for rows; what expires by ``ts`` is not there."""

    def still_waiting(self, rows_at: RowsAt, positions: Array, clock: int) -> Waiting | None:
        """Which of the rows that wait for fresh keys go on waiting; None: no row does."""

    def acquire(self) -> None:
        """Be ready to be asked again."""

    def release(self) -> None:
        """Do not be asked for a while."""

    def close(self) -> None:
        """Do not be asked any more."""


class Partner:
    """A row of one input that agrees on the keys; no keys: any row, which is what DOE wants.

    Source: Yang and Papadias 2008, section II on DOE, III-A; on static relations section V.

    Args:
        at_once: a row that is not there when it is asked for will never be.
    """

    def __init__(
        self, keys: Sequence[Evaluator], partners: Known, *, at_once: bool = False
    ) -> None:
        self._keys = tuple(keys)
        self._partners = partners
        self._at_once = at_once
        self.acquire()

    def acquire(self) -> None:
        self._partners.acquire()

    def release(self) -> None:
        self._partners.release()

    def close(self) -> None:
        self._partners.let_go()

    def fresh(self) -> Array:
        return self._partners.fresh

    def still_waiting(self, rows_at: RowsAt, positions: Array, clock: int) -> None:
        """A row with the key will do."""

    def keys_of(self, rows: Batch) -> tuple[Array, Array | None]:
        return join_keys([k(rows) for k in self._keys], len(rows))

    def find(self, rows: Batch, ts: Array) -> Found:
        keys, usable = self.keys_of(rows)
        there = self._partners.exist(keys, ts)
        if usable is not None:
            there &= usable
        return Found(there, keys, there if self._at_once else usable)


class Pairs(Operator):
    """The pairs of rows of two inputs that the chunk has completed; they are not kept.

    Args:
        links: the two inputs by the keys that they are joined on.

    Attributes:
        users: how many ask for pairs; it is idle while nobody does.
    """

    def __init__(self, inputs: tuple[Kept, Kept], links: tuple[Partners, Partners]) -> None:
        super().__init__(inputs)
        self._rows = inputs
        self.links = links
        self.users = 0
        self.fresh: Batch | None = None

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (left, right), (l_kept, r_kept) = self.links, self._rows
        if self.users == 0:
            nothing = np.zeros(0, np.int64)
            return paired(l_kept.rows_at(nothing), r_kept.rows_at(nothing))
        l_ts = l_kept.rows.store.lane_at("ts", left.fresh_positions)
        r_ts = r_kept.rows.store.lane_at("ts", right.fresh_positions)
        l_by, r_found = right.find(left.fresh, l_ts)
        r_by, l_found = left.find(right.fresh, r_ts)
        older = l_found < left.fresh_positions.min(initial=np.iinfo(np.int64).max)
        l_at = np.concatenate((left.fresh_positions[l_by], l_found[older]))
        r_at = np.concatenate((r_found, right.fresh_positions[r_by[older]]))
        self.fresh = paired(l_kept.rows_at(l_at), r_kept.rows_at(r_at))
        return self.fresh

    def live(self, clock: int) -> Batch:
        raise AssertionError("nobody reads the pairs but the gates of its own tree")

    def close(self) -> None:
        for partners in self.links:
            partners.let_go()


class PartnerPair:
    """A row of each of two inputs, which join with each other and agree on the keys.

    Args:
        keys: over the columns of who asks: what to agree on with the one, and with the other.
        others: the same over the columns of pairs.
    """

    def __init__(
        self,
        pairs: Pairs,
        keys: tuple[Sequence[Evaluator], Sequence[Evaluator]],
        partners: tuple[Partners, Partners],
        others: Sequence[Evaluator],
    ) -> None:
        self._pairs = pairs
        self._keys = keys
        self._partners = partners
        self._others = tuple(others)
        self.acquire()

    def acquire(self) -> None:
        self._pairs.users += 1
        for partners in (*self._partners, *self._pairs.links):
            partners.acquire()

    def release(self) -> None:
        self._pairs.users -= 1
        for partners in (*self._partners, *self._pairs.links):
            partners.release()

    def close(self) -> None:
        for partners in self._partners:
            partners.let_go()

    def fresh(self) -> Array:
        assert self._pairs.fresh is not None, "they run first"
        rows = self._pairs.fresh
        keys, usable = join_keys([k(rows) for k in self._others], len(rows))
        return keys if usable is None else keys[usable]

    def still_waiting(self, rows_at: RowsAt, positions: Array, clock: int) -> None:
        """A pair with the key will do."""

    def keys_of(self, rows: Batch) -> tuple[Array, Array | None]:
        return join_keys([k(rows) for keys in self._keys for k in keys], len(rows))

    def find(self, rows: Batch, ts: Array) -> Found:
        columns = [[k(rows) for k in keys] for keys in self._keys]
        keys, usable = join_keys(columns[0] + columns[1], len(rows))
        asking = np.arange(len(rows)) if usable is None else np.flatnonzero(usable)
        lists = []
        for own, partners, link in zip(columns, self._partners, self._pairs.links, strict=True):
            by, positions = partners.find(join_keys(own, len(rows))[0][asking], ts[asking])
            links, known = link.keys_at(positions)
            lists += [by[known], links[known]]
        there = np.zeros(len(rows), np.bool_)
        there[asking] = have_common(lists[0], lists[1], lists[2], lists[3], asking.size)
        return Found(there, keys, usable)
