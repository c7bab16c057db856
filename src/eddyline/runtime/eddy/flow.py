"""A flow: queries that have their sources and join keys in common, run together.

A chunk's rows of a source go through that source's grouped filters, which take bits out of their
lineage; a row that no query requires any more is dropped. A flow with one source emits the others
(``filter_flow.py``); one with several joins them (``join_flow.py``).

Source: Madden et al. 2002, section 2.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eddyline.runtime.batch import Batch, Predicate
from eddyline.runtime.eddy.policies import Policy
from eddyline.runtime.join_inputs.flow_windows import FlowRows, FlowWindow, Windows
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.stateless import Scan
from eddyline.runtime.predicates.filter_bank import Clause, FilterBank
from eddyline.runtime.predicates.grouped_filter import GroupedFilter
from eddyline.runtime.recipients import Recipients
from eddyline.runtime.stores.columns import Array, unique
from eddyline.runtime.window_join.joined_work import JoinedWork


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
        self._flags = np.zeros((2, 64), np.bool_)  # by bit: whether there is a query; it is retired
        self.held_for: Counter[tuple[int, ...]] = Counter()
        self._members: dict[int, Held] = {}
        self._retired = 0  # number of queries
        self._dismissed: list[int] = []

    def __len__(self) -> int:
        return len(self._members) - self._retired

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

    def _by_bit(self) -> Array:
        if self._flags.shape[1] < self.width:
            more = np.zeros((2, self.width - self._flags.shape[1]), np.bool_)
            self._flags = np.concatenate((self._flags, more), axis=1)
        return self._flags

    @property
    def bits(self) -> Array:
        """int64: of the queries that get results of new rows, ascending."""
        is_there, is_retired = self._by_bit()
        return np.flatnonzero(is_there & ~is_retired)

    @property
    def readable(self) -> Array:
        """int64: of these and the retired queries, ascending."""
        return np.flatnonzero(self._by_bit()[0])

    @property
    def are_selective(self) -> bool:
        """Whether some query does not get all results."""
        return bool(self._retired) or any(m.attributes for m in self._members.values())

    def add(self, member: Member) -> int:
        """Add a query; returns its bit. There may be more words than before."""
        bit = self._bits.take()
        self._members[bit] = Held(member.windows, member.accepts, member.attributes)
        self._by_bit()[0, bit] = True
        for lengths, length in zip(self.lengths, member.windows, strict=True):
            lengths[bit] = length
        return bit

    def remove(self, bit: int) -> None:
        """Drop a query. Its bit is free again after ``recycle``."""
        del self._members[bit]
        flags = self._by_bit()
        self._retired -= int(flags[1, bit])
        flags[:, bit] = False
        self._dismissed.append(bit)

    def retire(self, bit: int) -> None:
        """Let a query get no results of new rows."""
        flags = self._by_bit()
        self._retired += not flags[1, bit]
        flags[1, bit] = True

    def recycle(self) -> None:
        """No results of dropped queries are held any more."""
        self._bits.give_back(self._dismissed)
        self._dismissed = []

    def windows(self) -> list[Windows]:
        """Per source, which queries' windows hold rows of which age."""
        bits = self.readable
        return [Windows(w, bits, self.words) for w in self.lengths]

    def lineage(self, bits: Sequence[int] | Array) -> Array:
        """uint64[words]: the lineage of a row that these queries require."""
        required = np.zeros(self.width, np.bool_)
        required[np.asarray(bits, np.int64)] = True
        return np.packbits(required, bitorder="little").view(np.uint64)


class Flow(Operator):
    """Runs select-project-join queries together. Its batches list the recipients of each result.

    Args:
        sources: one operator per source.
        windows: the sources' windows, if rows live as long as each query's own windows; none if
            they live until their ``exp``.
        new_policy: makes a routing policy.
        banks: the filter banks of the sources; None: it has its own.
        bits: of the queries' lineage; None: it has its own.

    Attributes:
        paced: whether a join of two sources queues rows; results come with ``step`` then.
        joins_classes: of such a join, see ``SharedJoin``.
        arrived: when the chunk's rows arrived; seconds of any clock.
    """

    def __init__(
        self,
        sources: Sequence[Operator],
        windows: Sequence[FlowWindow | FlowRows],
        new_policy: Callable[[], Policy],
        *,
        banks: Sequence[FilterBank] | None = None,
        bits: Bits | None = None,
    ) -> None:
        super().__init__(sources)
        self.paced = self.joins_classes = False
        self.arrived = 0.0
        self._stem_windows = tuple(windows)
        self._banks = [FilterBank(new_policy()) for _ in sources] if banks is None else list(banks)
        self._residual = FilterBank(new_policy())
        self._members = Members(len(self._banks), Bits() if bits is None else bits)
        self._changed = True  # queries have been added or dropped

    # -- queries -------------------------------------------------------

    def admit(self, member: Member) -> int:
        """Add a query; returns its bit. It gets results from the new rows on."""
        bit = self._members.add(member)
        for bank, clauses in zip(self._banks, member.filters, strict=True):
            bank.add(bit, clauses)
        self._residual.add(bit, member.residual)
        for window, length in zip(self._stem_windows, member.windows, strict=False):
            window.extend(length)
        self._changed = True
        return bit

    def dismiss(self, bit: int) -> None:
        """Drop a query. Its bit is free again after ``recycle``."""
        self._members.remove(bit)
        for bank in (*self._banks, self._residual):
            bank.remove(bit)
        self._changed = True

    def retire(self, bit: int) -> None:
        """Let a query get no results of new rows; ``answer`` still finds those made before."""
        self._members.retire(bit)
        self._changed = True

    def hold(self, windows: tuple[int, ...]) -> None:
        """Keep rows for queries with such windows, also while there are none."""
        self._members.held_for[windows] += 1
        self._changed = True

    def let_go(self, windows: tuple[int, ...]) -> None:
        """Undo ``hold``."""
        self._members.held_for -= Counter([windows])
        self._changed = True

    def recycle(self) -> None:
        """No results of dropped queries are held any more."""
        if not self.waiting:
            self._members.recycle()

    def _fit_windows(self) -> None:
        """Keep rows as long as the queries' windows need."""
        bits = self._members.readable
        for number, window in enumerate(self._stem_windows):
            held = [lengths[number] for lengths in self._members.held_for]
            window.fit(unique(self._members.lengths[number][bits]).tolist(), held)
        self._changed = False

    @property
    def members(self) -> int:
        """Number of queries."""
        return len(self._members)

    @property
    def width(self) -> int:
        """All bits of queries are less than this."""
        return self._members.width

    def predicates_of(self, bit: int) -> int:
        """Number of attributes that a query has predicates on."""
        return self._members[bit].attributes

    @property
    def filters(self) -> list[GroupedFilter]:
        """All grouped filters, source by source, then those over joined rows."""
        return [f for bank in (*self._banks, self._residual) for f in bank.filters]

    @property
    def visits(self) -> int:
        """Number of rows that filters have evaluated."""
        return sum(bank.visits for bank in (*self._banks, self._residual))

    @property
    def sharers(self) -> tuple[int, ...]:
        """Per source, how many flows share its filters and indexes; none: no others."""
        return ()

    def holds_rows(self) -> bool:
        """Whether there are rows that could be in the answer of a query added now."""
        return any(not isinstance(s, Scan) or len(s.stem) for s in self.sources)

    def counts(self, recipients: Recipients) -> Array:
        """int64[width]: how many results each query has got, given those listed in a batch."""
        return recipients.counts()

    def lives(self, batch: Batch) -> list[tuple[Array, Array]]:
        """Per source with windows by time, when the rows of results came (int64[n]) and how long
        they live for each query (int64[width]).
        """
        stores = zip(batch.stores, batch.ids, self._stem_windows, strict=False)
        return [
            (store.lane_at("ts", store.positions(ids)), lengths)
            for (store, ids, window), lengths in zip(stores, self._members.lengths, strict=False)
            if isinstance(window, FlowWindow) and store is not None
        ]

    # -- joins ---------------------------------------------------------

    @property
    def fan_outs(self) -> dict[tuple[frozenset[int], int], tuple[int, int]]:
        """By sources joined and source probed: the numbers of probes and of matches."""
        return {}

    @property
    def waiting(self) -> bool:
        """Whether there is work left for ``step``."""
        return False

    @property
    def queued_rows(self) -> int:
        """Number of rows that wait for ``step``."""
        return 0

    @property
    def scheduled_work(self) -> JoinedWork:
        """The work of ``step`` so far."""
        return JoinedWork()

    @property
    def wants_rows(self) -> bool:
        """Whether new rows would be served before queued rows."""
        return True

    def step(self) -> list[tuple[Batch, Array]]:
        """Process some of the queued rows.

        Returns:
            Results, and per result when its rows arrived (float64[n], as of ``arrived``).
        """
        return []

    # -- answers -------------------------------------------------------

    def answer(self, clock: int, bits: Sequence[int]) -> Batch:
        """The results that are in the answers of some queries at ``clock``, with these queries."""
        batch = self._results(clock, bits)
        assert batch.recipients is not None, "set by the flow"
        return batch.sent_to(batch.recipients.only(batch.recipients.exp > clock))

    @abstractmethod
    def _results(self, clock: int, bits: Sequence[int]) -> Batch:
        """The results of the rows held for these queries, with these queries."""

    def live(self, clock: int) -> Batch:
        return self.answer(clock, self._members.bits.tolist())

    def stats(self) -> dict[str, Any]:
        return {**super().stats(), "operator": "Flow", "feedback": []}
