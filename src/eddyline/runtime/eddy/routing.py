"""Routing of rows among the SteMs of a flow: rows joined so far, and where they probe next.

Source: Madden et al. 2002, sections 2.3 and 4.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from eddyline.kernels.hashing import combine, mix_all
from eddyline.kernels.lineage import order_ties
from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.eddy.edges import Equality, Key, ends_of
from eddyline.runtime.eddy.policies import Policy
from eddyline.runtime.eddy.theta import Theta
from eddyline.runtime.join_inputs.join_input import JoinInput
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.stores.columns import Array, all_of, filled, validity_of
from eddyline.runtime.stores.index import Probes
from eddyline.runtime.stores.keys import is_exact, join_keys, same_values
from eddyline.runtime.window_join.output_buffer import CandidatePairs

#: Up to this number of sources all virtual sources are made at once; of more, those that occur.
_FEW: Final = 4


@dataclass
class Composites:
    """Rows of one virtual source (joined so far), and which queries require them.

    Attributes:
        ts, seq: of the youngest row, the instant of all probes.
        ids, instants: by source, the base rows and their timestamps.
        required: uint64[n, W], their lineage; or int64[n], the first level that requires them,
            where rows have no lineage.
        group: int64[n], the group of windows that a row was evicted from: the composites are
            retracted (-1: they are new). None: all are new.
    """

    ts: Array
    seq: Array
    ids: dict[int, Array]
    instants: dict[int, Array]
    required: Array
    group: Array | None = None

    def __len__(self) -> int:
        return int(self.ts.size)

    @property
    def sign(self) -> Array:
        """int8[n]: -1 where a composite is retracted."""
        sign = filled(len(self), 1, np.int8)
        if self.group is not None:
            sign[self.group >= 0] = -1
        return sign

    def candidates(self) -> CandidatePairs:
        """The rows of the first two sources, as pairs that may be results."""
        return CandidatePairs(self.ts, self.seq, self.sign, self.ids[0], self.ids[1])

    def take(self, rows: Array | slice, required: Array | None = None) -> Composites:
        """Some of them."""
        return Composites(
            self.ts[rows],
            self.seq[rows],
            {s: i[rows] for s, i in self.ids.items()},
            {s: t[rows] for s, t in self.instants.items()},
            self.required[rows] if required is None else required,
            None if self.group is None else self.group[rows],
        )


def singletons(number: int, batch: Batch, required: Array) -> Composites:
    """Rows of one source that are not joined with anything yet."""
    return Composites(batch.ts, batch.seq, {number: batch.ids[0]}, {number: batch.ts}, required)


def in_order(found: Sequence[Composites], sources: int, none_required: Array) -> Composites:
    """All results of a chunk in the order of events; those of one event in an order of their rows
    that does not depend on the route.

    Args:
        none_required: ``required`` of no rows.
    """
    nothing = np.zeros(0, np.int64)
    none = dict.fromkeys(range(sources), nothing)
    parts = [p for p in found if len(p)] or [
        Composites(nothing, nothing, none, none, none_required)
    ]
    if len(parts) == 1 and sources < 3:
        return parts[0]
    whole = Composites(
        np.concatenate([p.ts for p in parts]),
        np.concatenate([p.seq for p in parts]),
        {s: np.concatenate([p.ids[s] for p in parts]) for s in range(sources)},
        {s: np.concatenate([p.instants[s] for p in parts]) for s in range(sources)},
        np.concatenate([p.required for p in parts]),
        _groups(parts),
    )
    return whole.take(order_of(whole.seq, list(whole.ids.values())))


def order_of(seq: Array, ids: Sequence[Array]) -> Array:
    """int64[n]: results in the order of events; those of one event, of three sources or more, in an
    order of their rows.
    """
    order = np.argsort(seq, kind="stable")
    if len(ids) > 2:
        rows = mix_all(ids[0])
        for others in ids[1:]:
            combine(rows, mix_all(others))
        order_ties(order, seq, rows)
    return order


def _groups(parts: Sequence[Composites]) -> Array | None:
    if all(p.group is None for p in parts):
        return None
    return np.concatenate([np.full(len(p), -1) if p.group is None else p.group for p in parts])


@dataclass(frozen=True, slots=True)
class Tie:
    """A key that a source shares with one that is joined.

    Attributes:
        other: the one that is joined. theirs, own: compute the key of the other, and its own.
    """

    other: int
    theirs: Evaluator
    own: Evaluator


@dataclass(eq=False, slots=True)
class Probe:
    """A destination of the rows of a virtual source: the SteM of a source not yet joined.

    Attributes:
        source: the one probed. side: its rows. visible: these by the key that is probed.
        keys: the ties of which this key consists; none, if there are no keys.
        verified: the ties that rows found may not fulfil: those not probed, or probed by a hash.
        visited, returned: numbers of new rows that have probed, and of their matches.
        to: the virtual source of the matches; None: not known yet.
    """

    source: int
    name: str
    side: LineageInput
    visible: JoinInput
    keys: tuple[Tie, ...]
    verified: tuple[Tie, ...]
    predicates: int = 1
    visited: int = 0
    returned: int = 0
    to: VirtualSource | None = None


@dataclass(frozen=True, slots=True)
class VirtualSource:
    """The sources joined so far.

    Attributes:
        probes: those that may be next: of SteMs that share a key with what is joined.
        policy: which one is next; None: there is no choice.
    """

    joined: frozenset[int]
    probes: tuple[Probe, ...]
    policy: Policy | None

    def routes(self, rows: int) -> Sequence[tuple[int, Probe]]:
        """Consecutive pieces of a batch, and the probe of each."""
        if self.policy is None:
            return [(rows, self.probes[0])]
        chosen = []
        for count, order in self.policy.routes(self.probes, rows):
            probe = order[0]
            assert isinstance(probe, Probe), "only SteMs are left to probe"
            chosen.append((count, probe))
        return chosen


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

    def narrowed(self, target: int, joined: Composites) -> Composites:
        """Those that some query requires after predicates over the sources joined so far; the last
        one is ``target``.
        """

    def longest(self, target: int, probing: Composites) -> Array | int:
        """The longest window over a source of the queries that require each composite."""

    def lineage(self, required: Array) -> Array | None:
        """uint64[n, W], the lineage in ``Composites.required``; None: there is none."""


class Routing:
    """Routes rows from SteM to SteM.

    Args:
        sides: one per source. edges: the join graph.
        new_policy: makes a routing policy; there is one per virtual source with a choice.
        theta: joins two sources without edges.

    Attributes:
        is_exact: whether two rows of the first two sources with equal keys are always a result.
    """

    def __init__(
        self,
        sides: Sequence[LineageInput],
        edges: Sequence[Equality],
        new_policy: Callable[[], Policy],
        theta: Theta | None = None,
    ) -> None:
        self._sides = tuple(sides)
        self._theta = theta
        self._new_policy = new_policy
        self._edges = tuple(edges)
        self._virtual: dict[frozenset[int], VirtualSource] = {}
        self._singles = [self._joined(frozenset((n,))) for n in range(len(sides))]
        reached = list(self._singles) if len(sides) <= _FEW else []
        for virtual in reached:
            for probe in virtual.probes:
                is_new = (joined := virtual.joined | {probe.source}) not in self._virtual
                probe.to = self._joined(joined)
                reached += [probe.to] if is_new else []
        self.is_exact = not self._singles[0].probes[0].verified

    def _joined(self, sources: frozenset[int]) -> VirtualSource:
        """The virtual source of these sources."""
        if sources not in self._virtual:
            left = [n for n in range(len(self._sides)) if n not in sources]
            shared = [(n, ends_of(n, sorted(sources), self._edges)) for n in left]
            ready = [(n, ends) for n, ends in shared if ends or self._theta is not None]
            policy = self._new_policy() if len(ready) > 1 else None
            probes = tuple(self._probe(n, ends) for n, ends in ready)
            self._virtual[sources] = VirtualSource(sources, probes, policy)
        return self._virtual[sources]

    def _probe(self, source: int, ends: Sequence[tuple[int, Key, Key]]) -> Probe:
        """The probe of a source that shares these keys with what is joined."""
        probed = [end for end in ends if end[0] == ends[0][0]]  # those of one other source
        exact = is_exact([key.type for _, _, key in probed])
        verified = [end for end in ends if not exact or end not in probed]
        side = self._sides[source]
        return Probe(
            source,
            f"probe {source}",
            side,
            side.by_key(tuple(key.name for _, _, key in probed)),
            _ties(probed),
            _ties(verified),
        )

    @property
    def fan_outs(self) -> dict[tuple[frozenset[int], int], tuple[int, int]]:
        """By sources joined and source probed, the numbers of probes and of matches."""
        return {
            (virtual.joined, probe.source): (probe.visited, probe.returned)
            for virtual in self._virtual.values()
            for probe in virtual.probes
            if probe.visited
        }

    def have_same_keys(
        self, pairs: CandidatePairs, lineage: Array | None
    ) -> tuple[Array, Array | None]:
        """Of pairs of rows of the first two sources, those whose keys are equal, and their lineage
        (or None, as before).
        """
        (probe,) = self._singles[0].probes
        kept = np.flatnonzero(self._fulfil({0: pairs.left, 1: pairs.right}, probe))
        return kept, None if lineage is None else lineage[kept]

    def routed(self, composites: Composites, selection: PairSelection) -> Iterator[Composites]:
        """The results of new rows of one source that some query requires."""
        (origin,) = composites.ids
        waiting = [(self._singles[origin], composites)]
        while waiting:
            virtual, batch = waiting.pop()
            if not len(batch):
                continue
            if not virtual.probes:
                yield batch
                continue
            start = 0
            for count, probe in virtual.routes(len(batch)):
                piece = batch if count == len(batch) else batch.take(slice(start, start + count))
                start += count
                began = time.perf_counter()
                pieces = self._pieces(piece, probe, selection)
                joined = [self._probed(some, origin, probe, selection) for some in pieces]
                returned = sum(map(len, joined))
                if batch.group is None:
                    probe.visited += count
                    probe.returned += returned
                if probe.to is None:
                    probe.to = self._joined(virtual.joined | {probe.source})
                if probe.to.probes:  # those over all sources are applied to the results
                    joined = [selection.narrowed(probe.source, some) for some in joined]
                if virtual.policy is not None:
                    seconds = time.perf_counter() - began
                    virtual.policy.observe(probe, count, sum(map(len, joined)), seconds)
                waiting += [(probe.to, found) for found in joined]

    def _pieces(
        self, batch: Composites, probe: Probe, selection: PairSelection
    ) -> Iterable[Composites]:
        """Rows in pieces with a bounded number of pairs."""
        if self._theta is None:
            return (batch,)
        (origin,), target = batch.ids, probe.source
        longest = selection.longest(target, batch)
        at_once = probe.side.pieces(batch.ts, batch.seq, longest, inclusive=target < origin)
        return map(batch.take, at_once)

    def _probed(
        self, batch: Composites, origin: int, probe: Probe, selection: PairSelection
    ) -> Composites:
        """The matches of rows; ``origin``: the source whose rows began the route."""
        target, side, of = probe.source, probe.side, self.rows_of
        columns = [tie.theirs(of(tie.other, batch.ids[tie.other])) for tie in probe.keys]
        keys, usable = join_keys(columns, len(batch))
        probing = batch if usable is None else batch.take(np.flatnonzero(usable))
        number, found, age = side.probe(
            probe.visible,
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
            return out.take(*self._theta.results(out.candidates(), lineage))
        if not probe.verified or not len(out):
            return out
        same = self._fulfil(out.ids, probe)
        return out if all_of(same) else out.take(np.flatnonzero(same))

    def _fulfil(self, ids: Mapping[int, Array], probe: Probe) -> Array:
        """bool[n]: of rows joined with one found by a probe, those with equal keys in the ties that
        it may not fulfil.
        """
        others = {n: self.rows_of(n, ids[n]) for n in {tie.other for tie in probe.verified}}
        found = self.rows_of(probe.source, ids[probe.source])
        theirs = [tie.theirs(others[tie.other]) for tie in probe.verified]
        same = same_values(theirs, [tie.own(found) for tie in probe.verified])
        for column in theirs:  # NULL joins nothing
            known = validity_of(column)
            same = same if known is None else same & known
        return same

    def rows_of(self, number: int, ids: Array) -> Batch:
        """Rows of one source as a batch, for expressions over its columns."""
        return self._sides[number].rows(ids)


def _ties(ends: Sequence[tuple[int, Key, Key]]) -> tuple[Tie, ...]:
    return tuple(Tie(other, key.evaluate, own.evaluate) for other, key, own in ends)
