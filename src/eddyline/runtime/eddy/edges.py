"""The join graph of a flow."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from eddyline.runtime.batch import Evaluator, Predicate


@dataclass(frozen=True)
class Key:
    """A join key of one source: equal names compute the same; ``plain``: it is a column."""

    name: Hashable
    type: pa.DataType
    evaluate: Evaluator
    plain: bool = False


@dataclass(frozen=True)
class Equality:
    """An edge of the join graph: two sources, and the key on each."""

    left: int
    right: int
    left_key: Key
    right_key: Key

    def seen_from(self, source: int) -> tuple[int, Key, Key] | None:
        """The source at the other end, the key there and the key here; None: it is not an end."""
        if source == self.left:
            return self.right, self.right_key, self.left_key
        if source == self.right:
            return self.left, self.left_key, self.right_key
        return None


@dataclass(frozen=True)
class JoinGraph:
    """How the sources of a flow are joined.

    Attributes:
        edges: equalities of keys, with all that follow. Two sources may have none: then ``theta``
            selects the pairs of their rows that are joined (None: all).
    """

    edges: tuple[Equality, ...]
    theta: Predicate | None = None


def ends_of(
    source: int, joined: Sequence[int], edges: Sequence[Equality]
) -> list[tuple[int, Key, Key]]:
    """The sources joined that share a key with a source: each one, its key, and that of the source.

    Where several joined sources have a key that equals the same one, the first is enough.
    """
    ends: list[tuple[int, Key, Key]] = []
    for other in joined:
        known = {own.name for _, _, own in ends}
        found = (edge.seen_from(source) for edge in edges)
        ends += [e for e in found if e is not None and e[0] == other and e[2].name not in known]
    return ends


def keys_of(source: int, edges: Sequence[Equality]) -> dict[Hashable, tuple[Evaluator, ...]]:
    """The indexes of a source that are probed: one per set of keys shared with another source.

    Without edges: one without keys.
    """
    if not edges:
        return {(): ()}
    own = [[mine for _, mine in keys] for keys in ties_of(source, edges).values()]
    return {tuple(k.name for k in keys): tuple(k.evaluate for k in keys) for keys in own}


def computed_keys(source: int, edges: Sequence[Equality]) -> dict[Hashable, Evaluator]:
    """The keys of a source that are computed: for some rows they may have no value."""
    own = (end[2] for e in edges if (end := e.seen_from(source)) is not None)
    return {k.name: k.evaluate for k in own if not k.plain}


def ties_of(source: int, edges: Sequence[Equality]) -> dict[int, list[tuple[Key, Key]]]:
    """The sources that share keys with one: their key and its own, for each edge."""
    tied: dict[int, list[tuple[Key, Key]]] = {}
    for end in (e.seen_from(source) for e in edges):
        if end is not None:
            tied.setdefault(end[0], []).append((end[1], end[2]))
    return tied
