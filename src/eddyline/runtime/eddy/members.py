"""The queries of a flow by their bits in a lineage, and their windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eddyline.runtime.batch import Predicate
from eddyline.runtime.join_inputs.flow_windows import Windows
from eddyline.runtime.predicates.filter_bank import Clause
from eddyline.runtime.stores.columns import Array


@dataclass(frozen=True)
class Member:
    """A query of the flow.

    Attributes:
        filters: per source its predicates, in conjunctive normal form.
        residual: those over all sources.
        windows: per source how long a row lives, in microseconds (FOREVER: for ever) or in rows.
        predicates: per source, makes the predicate of rows; None: all rows qualify.
        accepts: equal for queries for which the same rows qualify.
    """

    filters: tuple[Sequence[Clause], ...]
    residual: Sequence[Clause]
    windows: tuple[int, ...]
    predicates: tuple[Callable[[], Predicate] | None, ...]
    accepts: object = None

    @property
    def attributes(self) -> int:
        """Number of clauses of its predicates."""
        return sum(map(len, self.filters)) + len(self.residual)


class Held(NamedTuple):
    """What is kept of a query: as of :class:`Member`."""

    windows: tuple[int, ...]
    accepts: object
    attributes: int


class Bits:
    """The bits of a lineage.

    Attributes:
        words: of a lineage, of 64 bits each.
    """

    def __init__(self) -> None:
        self.words = 1
        self._end = 0
        self._free: list[int] = []

    def take(self) -> int:
        """A free bit. There may be more words than before."""
        if self._free:
            return self._free.pop()
        self._end += 1
        while self._end > 64 * self.words:
            self.words *= 2
        return self._end - 1

    def give_back(self, bits: Iterable[int]) -> None:
        """Let queries take these bits again."""
        self._free += bits


class Members:
    """The queries of a flow by their bits.

    A retired query gets no results of new rows; those made before can still be read.

    Args:
        sources: number of sources of the flow.
        bits: of the lineage; others may take some of them.

    Attributes:
        held_for: windows for which rows are kept in any case, with the number of requests.
    """

    def __init__(self, sources: int, bits: Bits) -> None:
        self._bits = bits
        self._lengths = [np.zeros(64, np.int64) for _ in range(sources)]
        self.held_for: Counter[tuple[int, ...]] = Counter()
        self._members: dict[int, Held] = {}
        self._retired: set[int] = set()
        self._dismissed: list[int] = []

    def __len__(self) -> int:
        return len(self._members) - len(self._retired)

    def __getitem__(self, bit: int) -> Held:
        return self._members[bit]

    @property
    def words(self) -> int:
        """Of a lineage, of 64 bits each."""
        return self._bits.words

    @property
    def lengths(self) -> list[Array]:
        """Per source int64[width], length of the query's window by bit."""
        if self._lengths[0].size < self.width:
            self._lengths = [np.resize(w, self.width) for w in self._lengths]
        return self._lengths

    @property
    def width(self) -> int:
        """Number of bits of a lineage."""
        return 64 * self.words

    @property
    def bits(self) -> list[int]:
        """Of the queries that get results of new rows, ascending."""
        return sorted(self._members.keys() - self._retired)

    @property
    def readable(self) -> list[int]:
        """Of these and the retired queries, ascending."""
        return sorted(self._members)

    @property
    def are_selective(self) -> bool:
        """Whether some query does not get all results."""
        return bool(self._retired) or any(m.attributes for m in self._members.values())

    def add(self, member: Member) -> int:
        """Add a query; returns its bit. There may be more words than before."""
        bit = self._bits.take()
        self._members[bit] = Held(member.windows, member.accepts, member.attributes)
        for lengths, length in zip(self.lengths, member.windows, strict=True):
            lengths[bit] = length
        return bit

    def remove(self, bit: int) -> None:
        """Drop a query. Its bit is free again after ``recycle``."""
        del self._members[bit]
        self._retired.discard(bit)
        self._dismissed.append(bit)

    def retire(self, bit: int) -> None:
        """Let a query get no results of new rows."""
        self._retired.add(bit)

    def recycle(self) -> None:
        """No results of dropped queries are held any more."""
        self._bits.give_back(self._dismissed)
        self._dismissed = []

    def windows(self) -> list[Windows]:
        """Per source, which queries' windows hold rows of which age."""
        bits = self.readable
        return [Windows(w, bits, self.words) for w in self.lengths]

    def lineage(self, bits: Iterable[int]) -> Array:
        """uint64[words]: the lineage of a row that these queries require."""
        required = np.zeros(self.width, np.bool_)
        required[list(bits)] = True
        return np.packbits(required, bitorder="little").view(np.uint64)
