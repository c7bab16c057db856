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

from collections.abc import Iterable, Mapping
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


class Eddies:
    """The queries that can share an eddy, and those that do."""

    def __init__(self) -> None:
        self._queries: dict[Signature, dict[str, FlowPlacement]] = {}
        self._signature_of: dict[str, Signature] = {}
        self._indexes: dict[Signature, frozenset[_Index]] = {}
        self._readers: dict[_Index, dict[Signature, None]] = {}
        self._eddy_of: dict[Signature, EddyNumber] = {}
        self._signatures: dict[EddyNumber, dict[Signature, None]] = {}
        self._given_up: set[Signature] = set()
        self._made = 0

    @property
    def all(self) -> tuple[EddyNumber, ...]:
        """Those that run."""
        return tuple(self._signatures)

    def add(self, name: str, placement: FlowPlacement) -> Mapping[str, FlowPlacement]:
        """Add a query that can share an eddy.

        Returns:
            By name, the new placements of the queries that share one now; not of the query if it
            shares none.
        """
        signature = placement.signature
        self._put(name, placement)
        if signature in self._eddy_of:
            return {name: placement.in_eddy(self._eddy_of[signature], IN_EDDY)}
        if signature in self._given_up:
            return {}
        near = (self._eddy_of.get(other) for other in self._near(signature))
        eddy = next((e for e in near if e is not None), None)
        if eddy is not None:
            return self._join([signature], eddy)
        together = self._connected(signature)
        if len(together) < _LEAST or not self._pays(together, _MADE_BELOW):
            return {}
        self._made += 1
        return self._join(together, EddyNumber(self._made))

    def restore(self, name: str, placement: FlowPlacement, eddy: EddyNumber | None) -> None:
        """Add a query that has an eddy, or none, as a checkpoint says."""
        self._put(name, placement)
        if eddy is not None:
            self._enter(placement.signature, eddy)
            self._made = max(self._made, eddy.number)

    def remove(self, name: str) -> list[str]:
        """Remove a query; returns the others that share no eddy any more."""
        signature = self._signature_of.pop(name, None)
        if signature is None:
            return []
        del self._queries[signature][name]
        eddy = self._eddy_of.get(signature)
        if not self._queries[signature]:
            self._forget(signature)
        left = self._signatures.get(eddy, {}) if eddy is not None else {}
        return [] if not left or self._pays(left, _KEPT_BELOW) else self._undo(left)

    def give_up(self, eddy: EddyNumber) -> list[str]:
        """Undo an eddy, and make none of its signatures again; returns its queries."""
        self._given_up.update(self._signatures[eddy])
        return self._undo(self._signatures[eddy])

    def _put(self, name: str, placement: FlowPlacement) -> None:
        signature = placement.signature
        self._signature_of[name] = signature
        if signature not in self._queries:
            self._queries[signature] = {}
            self._indexes[signature] = _indexes(signature)
            for index in self._indexes[signature]:
                self._readers.setdefault(index, {})[signature] = None
        self._queries[signature][name] = placement

    def _forget(self, signature: Signature) -> None:
        """There are no queries of a signature any more."""
        del self._queries[signature]
        for index in self._indexes.pop(signature):
            del self._readers[index][signature]
        self._given_up.discard(signature)
        self._exit(signature)

    def _join(
        self, signatures: Iterable[Signature], eddy: EddyNumber
    ) -> Mapping[str, FlowPlacement]:
        """Let the queries of some signatures share an eddy."""
        found = {}
        for signature in signatures:
            self._enter(signature, eddy)
            for name, placement in self._queries[signature].items():
                found[name] = placement.in_eddy(eddy, IN_EDDY)
        return found

    def _undo(self, signatures: Iterable[Signature]) -> list[str]:
        """Let some signatures leave their eddy; returns their queries."""
        some = list(signatures)
        for signature in some:
            self._exit(signature)
        return [name for signature in some for name in self._queries[signature]]

    def _enter(self, signature: Signature, eddy: EddyNumber) -> None:
        self._eddy_of[signature] = eddy
        self._signatures.setdefault(eddy, {})[signature] = None

    def _exit(self, signature: Signature) -> None:
        eddy = self._eddy_of.pop(signature, None)
        if eddy is not None:
            del self._signatures[eddy][signature]
            if not self._signatures[eddy]:
                del self._signatures[eddy]

    def _near(self, signature: Signature) -> dict[Signature, None]:
        """The signatures with an index in common."""
        found: dict[Signature, None] = {}
        for index in sorted(self._indexes[signature], key=str):
            found.update(self._readers[index])
        return found

    def _connected(self, signature: Signature) -> list[Signature]:
        """The signatures without an eddy that have an index in common, directly or not."""
        found, waiting = {signature: None}, [signature]
        while waiting:
            fresh = [s for s in self._near(waiting.pop()) if s not in found]
            fresh = [s for s in fresh if s not in self._given_up]
            found.update(dict.fromkeys(fresh))
            waiting += fresh
        return list(found)

    def _pays(self, signatures: Iterable[Signature], below: float) -> bool:
        """Whether an eddy costs less than this share of what they cost alone."""
        some = list(signatures)
        read = [source for s in some for source in s.sources]
        shared = _SHARED * (len(read) + len(set(read)))
        return shared < below * sum(map(self._alone, some))

    def _alone(self, signature: Signature) -> float:
        """The cost of the queries of a signature without an eddy."""
        if len(signature.sources) > 2:
            return _OF_MORE * len(signature.sources)
        is_shared = len(self._queries[signature]) > 1
        return (_FLOW_OF_TWO if is_shared else _TREE_OF_TWO) * len(signature.sources)


def _indexes(signature: Signature) -> frozenset[_Index]:
    """The sources with their keys."""
    ends = ((e.left, e.left_key, e.right, e.right_key) for e in signature.edges)
    return frozenset(
        (signature.sources[source], key)
        for left, left_key, right, right_key in ends
        for source, key in ((left, left_key), (right, right_key))
    )
