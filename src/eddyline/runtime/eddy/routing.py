"""Routing of rows among the SteMs of a flow.

Source: Madden et al. 2002, sections 2.3 and 4.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.composites import Composites
from eddyline.runtime.eddy.edges import Equality, Key
from eddyline.runtime.eddy.policies import Policy
from eddyline.runtime.eddy.theta import Theta
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.stores.columns import Array, validity_of
from eddyline.runtime.stores.index import Probes
from eddyline.runtime.stores.keys import is_exact, join_keys, same_values


@dataclass(frozen=True)
class Probe:
    """A destination of rows: the SteM of a source that they are not yet joined with."""

    source: int
    name: str
    predicates: int = 1


class PairSelection(Protocol):
    """Selects the pairs of rows that some query requires."""

    def meet(
        self, target: int, probing: Composites, number: Array, found: Array, age: Array
    ) -> tuple[Array, Array]:
        """The pairs that some query requires.

        Args:
            target: the source probed.
            number, found, age: int64[p], numbers of the composites that probe, positions and ages
                of the rows found.

        Returns:
            int64[q], the pairs; per pair ``Composites.required``.
        """

    def longest(self, target: int, probing: Composites) -> Array | int:
        """The longest window over a source of the queries that require each composite."""

    def lineage(self, required: Array) -> Array | None:
        """uint64[n, W], the lineage in ``Composites.required``; None: there is none."""


class Routing:
    """Routes rows from SteM to SteM.

    Args:
        sides: one per source. edges: the join graph.
        new_policy: makes a routing policy; there is one per virtual source.
        theta: joins two sources without edges.

    Attributes:
        fan_outs: by sources joined and source probed, the numbers of probes and of matches.
    """

    def __init__(
        self,
        sides: Sequence[LineageInput],
        edges: Sequence[Equality],
        new_policy: Callable[[], Policy],
        theta: Theta | None = None,
    ) -> None:
        self._sides = tuple(sides)
        self._edges = tuple(edges)
        self._theta = theta
        self._new_policy = new_policy
        self._policies: dict[frozenset[int], Policy] = {}  # by virtual source
        self._probes = [Probe(i, f"probe {i}") for i in range(len(sides))]
        self._known_ties: dict[tuple[int, frozenset[int]], list[tuple[int, Key, Key]]] = {}
        self.fan_outs: dict[tuple[frozenset[int], int], tuple[int, int]] = {}

    @property
    def is_exact(self) -> bool:
        """Whether two rows of the first two sources with equal keys are always a result."""
        return is_exact([key.type for _, key, _ in self._ties(0, [1])])

    def have_same_keys(
        self, left: Array, right: Array, lineage: Array | None
    ) -> tuple[Array, Array | None]:
        """Of pairs of ids with equal hashes of keys, those whose keys are equal, and their lineage
        (or None, as before).
        """
        rows = (self.rows_of(0, left), self.rows_of(1, right))
        ties = self._ties(0, [1])
        mine = [own.evaluate(rows[0]) for _, _, own in ties]
        kept = np.flatnonzero(same_values(mine, [key.evaluate(rows[1]) for _, key, _ in ties]))
        return kept, None if lineage is None else lineage[kept]

    def routed(self, composites: Composites, selection: PairSelection) -> Iterator[Composites]:
        """The results of new rows of one source that some query requires."""
        waiting = [composites]
        while waiting:
            batch = waiting.pop()
            if not len(batch):
                continue
            ready = self._ready(batch)
            if not ready:
                yield batch
                continue
            start = 0
            policy = self._policy_of(batch)
            for count, order in policy.routes(ready, len(batch)):
                piece = batch.take(slice(start, start + count))
                start += count
                probe = order[0]
                assert isinstance(probe, Probe), "only SteMs are left to probe"
                began = time.perf_counter()
                pieces = self._pieces(piece, probe, selection)
                joined = [self._probed(some, probe, selection) for some in pieces]
                returned = sum(map(len, joined))
                policy.observe(probe, count, returned, time.perf_counter() - began)
                if batch.group is None:
                    self._count(frozenset(batch.ids), probe.source, count, returned)
                waiting += joined

    def _pieces(
        self, batch: Composites, probe: Probe, selection: PairSelection
    ) -> Iterator[Composites]:
        """Rows in pieces with a bounded number of pairs."""
        if self._theta is None:
            yield batch
            return
        (origin,), target = batch.ids, probe.source
        longest = selection.longest(target, batch)
        side = self._sides[target]
        at_once = side.pieces(batch.ts, batch.seq, longest, inclusive=target < origin)
        yield from map(batch.take, at_once)

    def _count(self, joined: frozenset[int], source: int, visited: int, returned: int) -> None:
        came, went = self.fan_outs.get((joined, source), (0, 0))
        self.fan_outs[joined, source] = (came + visited, went + returned)

    def are_tied(self, one: int, other: int) -> bool:
        """Whether two sources share a key."""
        return any({one, other} == {e.left, e.right} for e in self._edges)

    def _policy_of(self, batch: Composites) -> Policy:
        return self._policies.setdefault(frozenset(batch.ids), self._new_policy())

    def _ready(self, batch: Composites) -> list[Probe]:
        """The SteMs that may be probed next: those that share a key with what is joined."""
        left = (p for p in self._probes if p.source not in batch.ids)
        return [p for p in left if self._theta is not None or self._ties(p.source, batch.ids)]

    def _ties(self, source: int, joined: Iterable[int]) -> list[tuple[int, Key, Key]]:
        """The edges from a source to sources that are joined: each of these, its key, and the
        key of the source.
        """
        at = source, frozenset(joined)
        if at not in self._known_ties:
            ends = (e.seen_from(source) for e in self._edges)
            self._known_ties[at] = [end for end in ends if end is not None and end[0] in at[1]]
        return self._known_ties[at]

    def _probed(self, batch: Composites, probe: Probe, selection: PairSelection) -> Composites:
        target, side = probe.source, self._sides[probe.source]
        origin = next(iter(batch.ids))  # the source whose rows began the route
        ties = self._ties(target, batch.ids)
        probed = [t for t in ties if t[0] == ties[0][0]]  # none, if there are no keys
        columns = [own.evaluate(self.rows_of(o, batch.ids[o])) for o, own, _ in probed]
        keys, usable = join_keys(columns, len(batch))
        probing = batch if usable is None else batch.take(np.flatnonzero(usable))
        number, found, age = side.probe(
            tuple(key.name for _, _, key in probed),
            Probes(keys if usable is None else keys[usable], probing.ts, probing.seq),
            selection.longest(target, probing),
            inclusive=target < origin,
        )
        kept, required = selection.meet(target, probing, number, found, age)
        number, found = number.take(kept), found.take(kept)
        out = probing.take(number, required)
        out.ids[target] = side.stem.ids(found)
        out.instants[target] = side.stem.lane_at("ts", found)
        if self._theta is not None:
            lineage = selection.lineage(out.required)
            return out.take(*self._theta.results(out.ids[0], out.ids[1], lineage))
        exact = is_exact([key.type for _, _, key in probed])
        return self._verified(out, target, [t for t in ties if not exact or t not in probed])

    def _verified(
        self, batch: Composites, target: int, ties: Sequence[tuple[int, Key, Key]]
    ) -> Composites:
        """The pairs with equal keys in ties that were not probed, or were probed by a hash."""
        if not ties or not len(batch):
            return batch
        rows = {s: self.rows_of(s, ids) for s, ids in batch.ids.items()}
        mine = [own.evaluate(rows[other]) for other, own, _ in ties]
        theirs = [key.evaluate(rows[target]) for _, _, key in ties]
        same = same_values(mine, theirs)  # also where both are NULL, which joins nothing
        for column in mine:
            known = validity_of(column)
            same = same if known is None else same & known
        return batch if same.all() else batch.take(np.flatnonzero(same))

    def rows_of(self, number: int, ids: Array) -> Batch:
        """Rows of one source as a batch, for expressions over its columns."""
        return self._sides[number].rows(ids)
