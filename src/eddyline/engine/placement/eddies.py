"""Which queries share an eddy: those over subsets of the same streams, if that costs less.

A query alone filters, stores and indexes the rows of each of its streams. In an eddy that is done
once per stream, and prefixes of joins are made once (``runtime/eddy/prefixes.py``). But a tree
keeps intermediate results, and costs less per row. So queries get an eddy when there are so many
signatures that each stream would be read several times.

Source: Madden et al. 2002, section 2.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eddyline.algebra.expressions import Expr
from eddyline.algebra.plan import Plan
from eddyline.engine.placement.placement import FlowPlacement
from eddyline.physical.flows import EddyNumber
from eddyline.sharing.signature import Signature

IN_EDDY: Final = "an eddy makes its joins with those of other sets of streams"
NOT_ANY_MORE: Final = "few queries over other sets of its streams are left"

#: How many times streams are read by the signatures of an eddy, at least when it is made, and as
#: long as it is kept.
_MADE_FROM: Final = 2.5
_KEPT_FROM: Final = 1.5


class Eddies:
    """The queries that can share an eddy, and those that do."""

    def __init__(self) -> None:
        self._queries: dict[Signature, dict[str, FlowPlacement]] = {}
        self._signature_of: dict[str, Signature] = {}
        self._eddy_of: dict[Signature, EddyNumber] = {}
        self._made = 0

    def add(self, name: str, placement: FlowPlacement) -> dict[str, FlowPlacement]:
        """Add a query that can share an eddy.

        Returns:
            By name, the new placements of the queries that share one now; not of the query if it
            shares none.
        """
        signature = placement.signature
        self._put(name, placement)
        if signature in self._eddy_of:
            return {name: placement.in_eddy(self._eddy_of[signature], IN_EDDY)}
        near = self._near(signature, self._eddy_of)
        if near:
            return self._join([signature], self._eddy_of[near[0]])
        together = self._connected(signature)
        if _readers(together) < _MADE_FROM:
            return {}
        self._made += 1
        return self._join(together, EddyNumber(self._made))

    def restore(self, name: str, placement: FlowPlacement, eddy: EddyNumber | None) -> None:
        """Add a query that has an eddy, or none, as a checkpoint says."""
        self._put(name, placement)
        if eddy is not None:
            self._eddy_of[placement.signature] = eddy
            self._made = max(self._made, eddy.number)

    def remove(self, name: str) -> list[str]:
        """Remove a query; returns the others that share no eddy any more."""
        signature = self._signature_of.pop(name, None)
        if signature is None:
            return []
        del self._queries[signature][name]
        if self._queries[signature]:
            return []
        del self._queries[signature]
        eddy = self._eddy_of.pop(signature, None)
        left = [s for s, e in self._eddy_of.items() if e == eddy]
        if _readers(left) >= _KEPT_FROM:
            return []
        for other in left:
            del self._eddy_of[other]
        return [name for other in left for name in self._queries[other]]

    def _put(self, name: str, placement: FlowPlacement) -> None:
        self._signature_of[name] = placement.signature
        self._queries.setdefault(placement.signature, {})[name] = placement

    def _join(self, signatures: Iterable[Signature], eddy: EddyNumber) -> dict[str, FlowPlacement]:
        """Let the queries of some signatures share an eddy."""
        found = {}
        for signature in signatures:
            self._eddy_of[signature] = eddy
            for name, placement in self._queries[signature].items():
                found[name] = placement.in_eddy(eddy, IN_EDDY)
        return found

    def _connected(self, signature: Signature) -> list[Signature]:
        """The signatures without an eddy that have an index in common, directly or not."""
        others = [s for s in self._queries if s not in self._eddy_of]
        found, waiting = {signature: None}, [signature]
        while waiting:
            fresh = [s for s in self._near(waiting.pop(), others) if s not in found]
            found.update(dict.fromkeys(fresh))
            waiting += fresh
        return list(found)

    def _near(self, signature: Signature, others: Iterable[Signature]) -> list[Signature]:
        """Those with an index in common."""
        indexes = _indexes(signature)
        return [s for s in others if not indexes.isdisjoint(_indexes(s))]


def _readers(signatures: Iterable[Signature]) -> float:
    """By how many of some signatures a stream is read, on average."""
    read = [source for s in signatures for source in s.sources]
    return len(read) / max(len(set(read)), 1)


def _indexes(signature: Signature) -> set[tuple[Plan, Expr]]:
    """The sources with their keys."""
    ends = ((e.left, e.left_key, e.right, e.right_key) for e in signature.edges)
    return {
        (signature.sources[source], key)
        for left, left_key, right, right_key in ends
        for source, key in ((left, left_key), (right, right_key))
    }
