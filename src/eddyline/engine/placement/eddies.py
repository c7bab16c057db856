"""Which queries share an eddy: those over subsets of the same streams, if that costs less.

Queries of a signature alone filter, store and index the rows of each of its streams, and join them
themselves. In an eddy the first is done once per stream, and prefixes of joins are made once
(``runtime/eddy/prefixes.py``). Costs are in rows that a tree of two streams reads, as measured:

    alone     a tree of two streams: 1 per row of a stream; a flow of two: 1.65; more streams: 3
    shared    1.1 per row of a stream, and 1.1 per row of a stream and signature that reads it

So queries over two streams each never share an eddy, if each is the only one of its signature.
What a tree has as intermediate results an eddy joins again for each row; an eddy that joins many
pairs in vain is undone.

Source: Madden et al. 2002, section 2.3; docs/decisions/0088.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from eddyline.algebra.expressions import Expr
from eddyline.algebra.plan import Plan
from eddyline.engine.placement.placement import FlowPlacement
from eddyline.physical.flows import EddyNumber
from eddyline.sharing.signature import Signature

IN_EDDY: Final = "an eddy makes its joins with those of other sets of streams"

_TREE_OF_TWO: Final = 1.0
_FLOW_OF_TWO: Final = 1.65
_OF_MORE: Final = 3.0
_SHARED: Final = 1.1
#: Number of signatures from which on an eddy is made; share of the cost alone below which it is
#: made, and below which it is kept.
_LEAST: Final = 3
_MADE_BELOW: Final = 0.8
_KEPT_BELOW: Final = 1.0

#: A source and a key over its columns.
_Index = tuple[Plan, Expr]


@dataclass(eq=False)
class _Alike:
    """The queries of a signature that can share an eddy.

    Attributes:
        sources, indexes: numbers of those that they read and probe.
        queries: their placements without an eddy, by name.
        eddy: which they share. given_up: they shared one that joined in vain.
    """

    signature: Signature
    sources: tuple[int, ...]
    indexes: tuple[int, ...]
    queries: dict[str, FlowPlacement] = field(default_factory=dict)
    eddy: EddyNumber | None = None
    given_up: bool = False

    @property
    def alone(self) -> float:
        """Their cost without an eddy."""
        if len(self.sources) > 2:
            return _OF_MORE * len(self.sources)
        return (_FLOW_OF_TWO if len(self.queries) > 1 else _TREE_OF_TWO) * len(self.sources)


class Eddies:
    """The queries that can share an eddy, and those that do.

    Attributes:
        members: of those that run.
    """

    def __init__(self) -> None:
        self._of_signature: dict[Signature, _Alike] = {}
        self._of_query: dict[str, _Alike] = {}
        self._numbers: dict[Plan | _Index, int] = {}
        self._readers: dict[int, dict[_Alike, None]] = {}
        self.members: dict[EddyNumber, dict[_Alike, None]] = {}
        self._made = 0

    def add(self, name: str, placement: FlowPlacement) -> Mapping[str, FlowPlacement]:
        """Add a query that can share an eddy.

        Returns:
            By name, the new placements of the queries that share one now; not of the query if it
            shares none.
        """
        alike = self._put(name, placement)
        if alike.eddy is not None:
            return {name: placement.in_eddy(alike.eddy, IN_EDDY)}
        if alike.given_up:
            return {}
        together = self._connected(alike)
        eddy = next((other.eddy for other in together if other.eddy is not None), None)
        if eddy is not None:
            return self._enter([alike], eddy)
        if len(together) < _LEAST or not _pays(together, _MADE_BELOW):
            return {}
        self._made += 1
        return self._enter(together, EddyNumber(self._made))

    def restore(self, name: str, placement: FlowPlacement, eddy: EddyNumber | None) -> None:
        """Add a query that has an eddy, or none, as a checkpoint says."""
        alike = self._put(name, placement)
        if eddy is not None:
            self._enter([alike], eddy)
            self._made = max(self._made, eddy.number)

    def remove(self, name: str) -> list[str]:
        """Remove a query; returns the others that share no eddy any more."""
        alike = self._of_query.pop(name, None)
        if alike is None:
            return []
        del alike.queries[name]
        eddy = alike.eddy
        if not alike.queries:
            self._exit([alike])
            del self._of_signature[alike.signature]
            for index in alike.indexes:
                del self._readers[index][alike]
        left = [] if eddy is None else list(self.members.get(eddy, ()))
        return [] if _pays(left, _KEPT_BELOW) else self._exit(left)

    def give_up(self, eddy: EddyNumber) -> list[str]:
        """Undo an eddy, and make none of its signatures again; returns its queries."""
        left = list(self.members[eddy])
        for alike in left:
            alike.given_up = True
        return self._exit(left)

    def _put(self, name: str, placement: FlowPlacement) -> _Alike:
        alike = self._of_signature.get(placement.signature)
        if alike is None:
            sources, indexes = (
                tuple(self._numbers.setdefault(each, len(self._numbers)) for each in some)
                for some in (placement.signature.sources, _indexes(placement.signature))
            )
            alike = _Alike(placement.signature, sources, indexes)
            self._of_signature[placement.signature] = alike
            for index in alike.indexes:
                self._readers.setdefault(index, {})[alike] = None
        alike.queries[name] = placement
        self._of_query[name] = alike
        return alike

    def _enter(self, some: Iterable[_Alike], eddy: EddyNumber) -> Mapping[str, FlowPlacement]:
        """Let queries share an eddy; returns their placements."""
        found = {}
        for alike in some:
            alike.eddy = eddy
            self.members.setdefault(eddy, {})[alike] = None
            for name, placement in alike.queries.items():
                found[name] = placement.in_eddy(eddy, IN_EDDY)
        return found

    def _exit(self, some: Iterable[_Alike]) -> list[str]:
        """Let queries leave their eddy; returns their names."""
        names: list[str] = []
        for alike in some:
            if alike.eddy is not None:
                del self.members[alike.eddy][alike]
                if not self.members[alike.eddy]:
                    del self.members[alike.eddy]
            alike.eddy = None
            names += alike.queries
        return names

    def _connected(self, alike: _Alike) -> list[_Alike]:
        """Those that have an index in common, directly or not, the next ones first."""
        found, waiting = {alike: None}, deque([alike])
        seen: set[int] = set()
        while waiting:
            for index in waiting.popleft().indexes:
                if index in seen:
                    continue
                seen.add(index)
                fresh = [r for r in self._readers[index] if r not in found and not r.given_up]
                found.update(dict.fromkeys(fresh))
                waiting += fresh
        return list(found)


def _pays(some: Sequence[_Alike], below: float) -> bool:
    """Whether an eddy costs less than this share of what queries cost alone."""
    read = [source for alike in some for source in alike.sources]
    shared = _SHARED * (len(read) + len(set(read)))
    return shared < below * sum(alike.alone for alike in some)


def _indexes(signature: Signature) -> Iterable[_Index]:
    """The sources with their keys."""
    ends = ((e.left, e.left_key, e.right, e.right_key) for e in signature.edges)
    return dict.fromkeys(
        (signature.sources[source], key)
        for left, left_key, right, right_key in ends
        for source, key in ((left, left_key), (right, right_key))
    )
