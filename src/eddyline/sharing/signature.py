"""Signatures: what queries must have in common to share a flow.

Queries with the same *signature* (the same sources, joined on the same keys) run in one flow: each
base row is filtered, stored and joined once for all of them. A query's *part* may differ:
predicates, lengths of windows, and the select list.

Two sources may be joined without keys. Then the signature contains the conditions that compare
columns without constants (``a.x < b.y``); other conditions on both (``a.x - b.y < 5``) may differ.

Source: Madden et al. 2002, section 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Final, TypeAlias

from eddyline.algebra.catalog import INSERTS, Emit
from eddyline.algebra.expressions import (
    Call,
    ColumnRef,
    Expr,
    columns_of,
    shift_columns,
    walk,
)
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.algebra.parameters import has_parameters
from eddyline.algebra.per_node import per_node
from eddyline.algebra.plan import (
    AntiJoin,
    GroupBy,
    Join,
    Negation,
    Plan,
    SemiJoin,
    StreamScan,
    TableScan,
)
from eddyline.algebra.windows import PartitionRows, Range, RowLength, Rows, Unbounded
from eddyline.sharing.flat import Flat, flatten, in_canonical_order
from eddyline.types import Schema

#: Stand-in window of a signature for those by time, if the length belongs to the query's part. That
#: of windows that count rows has one row.
_BY_TIME: Final = Unbounded(explicit=False)

#: A source and a key over its columns.
_End: TypeAlias = tuple[int, Expr]

#: Comparisons that are rewritten with their operands exchanged.
_SWAPPED: Final = {">": "<", ">=": "<="}


@dataclass(frozen=True)
class Edge:
    """An equi-join of two sources; each key is over its source's own columns."""

    left: int
    right: int
    left_key: Expr
    right_key: Expr


@dataclass(frozen=True)
class Signature:
    """The common properties of the queries of one flow.

    Attributes:
        sources: of a join, stream scans with stand-in windows. A single source may be any plan.
        edges: the join graph, sorted, with all equalities that follow from others: ``a.k = c.k``
            from ``a.k = b.k`` and ``b.k = c.k``. Two sources may have no edge.
        theta: then, the join conditions over the columns of both (conjuncts).
    """

    sources: tuple[Plan, ...]
    edges: tuple[Edge, ...]
    theta: tuple[Expr, ...] = ()

    @cached_property
    def _hash(self) -> int:
        return hash((self.sources, self.edges, self.theta))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first column of each source among the columns of all, and their number."""
        starts = [0]
        for source in self.sources:
            starts.append(starts[-1] + len(source.schema))
        return tuple(starts)

    @cached_property
    def schema(self) -> Schema:
        """The columns of all sources, concatenated."""
        return tuple(f for s in self.sources for f in s.schema)

    @property
    def windowed(self) -> bool:
        """Whether the lifetimes of rows depend on each query's windows."""
        return len(self.sources) > 1 or _expires_by_time(self.sources[0])

    @property
    def joins_by_time(self) -> bool:
        """Whether it joins different streams on keys, over windows by time."""
        streams = {source.stream for source in self.sources if isinstance(source, StreamScan)}
        different = len(streams) == len(self.sources) > 1
        return different and bool(self.edges) and not any(self.counted)

    @property
    def takes_back(self) -> bool:
        """Whether results of the flow are taken back."""
        return any(self.counted) or (not self.windowed and self.sources[0].takes_back)

    @property
    def counted(self) -> tuple[bool, ...]:
        """By source, whether it has windows of rows with lengths per query."""
        joined = len(self.sources) > 1
        return tuple(joined and _expires_by_rows(source) for source in self.sources)


@dataclass(frozen=True)
class Part:
    """The properties of a query that its signature leaves open.

    Attributes:
        filters: per source the predicates over its own columns.
        residual: predicates over the columns of all sources.
        windows: per source the length, in microseconds or rows; None: unbounded, or fixed by the
            source. Behind these, those of the streams that the operators above match with.
        row_lengths: of a parameterized query, per window the length that is in its row, of which
            ``windows`` has the maximum; None: there is none. Empty: there is none at all.
        outputs, names: the select list over the columns of all sources.
        above: the plan above the outputs, over a SharedRows of them; None: they are the results.
        emit: what it emits of the answer of that plan.
        constants: the values of Parameters of that plan; of a parameterized query, over its row.
    """

    filters: tuple[tuple[Expr, ...], ...]
    residual: tuple[Expr, ...]
    windows: tuple[int | None, ...]
    outputs: tuple[Expr, ...]
    names: tuple[str, ...]
    above: Plan | None = None
    emit: Emit = INSERTS
    constants: tuple[Expr, ...] = ()
    row_lengths: tuple[RowLength | None, ...] = ()

    def with_windows(self, above: Sequence[Range]) -> Part:
        """The part with windows over streams that the operators above match with."""
        if not above:
            return self
        before = self.row_lengths or (None,) * len(self.windows)
        lengths = (*before, *(w.row_length for w in above))
        windows = (*self.windows, *(w.us for w in above))
        return replace(self, windows=windows, row_lengths=lengths if any(lengths) else ())

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, f.name) for f in fields(self)))

    def __hash__(self) -> int:
        return self._hash


def decompose(plan: Plan) -> tuple[Signature, Part] | None:
    """The signature and the query's part of a plan; None if a flow cannot run it.

    Joins that a flow cannot run become one source.
    """
    names = tuple(f.name for f in plan.schema)
    found = decompose_flat(flatten(plan, joins=True), names)
    return found or decompose_flat(flatten(plan, joins=False), names)


def decompose_flat(flat: Flat, names: tuple[str, ...]) -> tuple[Signature, Part] | None:
    """As :func:`decompose`, for a flattened plan."""
    if not _fits(flat):
        return None
    flat = in_canonical_order(flat)
    joined = len(flat.leaves) > 1
    signature = Signature(tuple(_without_length(leaf, joined) for leaf in flat.leaves), ())
    edges = _edges(flat.keys, signature)
    keyless = len(flat.leaves) == 2 and not edges
    if edges is None or not (keyless or _connected(len(flat.leaves), edges)):
        return None
    filters: list[list[Expr]] = [[] for _ in flat.leaves]
    theta, residual = set(), []
    for term in flat.terms:
        source = _only_source(term, signature)
        if source is None and keyless and _compares_columns(term):
            theta.add(_swapped(term))
        elif source is None:
            residual.append(term)
        else:
            filters[source].append(shift_columns(term, -signature.starts[source]))
    signature = replace(signature, edges=edges)
    if keyless:
        signature = replace(signature, theta=_sorted(theta))
    part = Part(
        tuple(map(tuple, filters)),
        tuple(residual),
        tuple(_length(leaf, joined) for leaf in flat.leaves),
        tuple(flat.outputs),
        names,
        row_lengths=_row_lengths(flat.leaves),
    )
    return signature, part


def _fits(flat: Flat) -> bool:
    """Whether a flow can run the leaves: joins of streams with windows by time or rows, or a single
    source with something to filter that is empty before its streams have rows.
    """
    if len(flat.leaves) > 1:
        return all(_expires_by_time(leaf) or _expires_by_rows(leaf) for leaf in flat.leaves)
    (only,) = flat.leaves
    differs = bool(flat.terms) or (matches_streams(only) and has_parameters(only))
    return _expires_by_time(only) or (differs and not _has_initial_rows(only))


def matches_streams(plan: Plan) -> bool:
    """Whether a plan is EXISTS or NOT EXISTS of rows of a stream by equal keys alone."""
    if type(plan) not in (SemiJoin, AntiJoin):
        return False
    assert isinstance(plan, (SemiJoin, AntiJoin)), "by its type"
    leaves = (plan.left, *flatten(plan.right, joins=False).leaves)
    is_by_keys = plan.residual is None and not any(can_fail(e) for pair in plan.keys for e in pair)
    return is_by_keys and all(isinstance(p, StreamScan) and _is_range(p) for p in leaves)


def _is_range(scan: StreamScan) -> bool:
    return isinstance(scan.window, Range)


def _expires_by_time(leaf: Plan) -> bool:
    return isinstance(leaf, StreamScan) and isinstance(leaf.window, (Range, Unbounded))


def _expires_by_rows(leaf: Plan) -> bool:
    return isinstance(leaf, StreamScan) and isinstance(leaf.window, (Rows, PartitionRows))


@per_node
def _has_initial_rows(plan: Plan) -> bool:
    """Whether the plan has rows before its streams: of tables, or of a global aggregate."""
    if isinstance(plan, TableScan) or (isinstance(plan, GroupBy) and not plan.keys):
        return True
    if isinstance(plan, Join):
        return all(map(_has_initial_rows, plan.inputs))
    if isinstance(plan, (Negation, SemiJoin, AntiJoin)):
        return _has_initial_rows(plan.left)
    return any(map(_has_initial_rows, plan.inputs))


def _edges(keys: Sequence[tuple[Expr, Expr]], signature: Signature) -> tuple[Edge, ...] | None:
    """The join graph, with all equalities that follow; None if a key reads several sources."""
    equal: dict[_End, set[_End]] = {}
    for pair in keys:
        ends = [_end(key, signature) for key in pair]
        if None in ends:
            return None
        together = set().union(*(equal.get(end, {end}) for end in ends if end is not None))
        equal.update(dict.fromkeys(together, together))
    edges = (
        Edge(left, right, left_key, right_key)
        for (left, left_key), same in equal.items()
        for right, right_key in same
        if left < right
    )
    return tuple(sorted(edges, key=lambda e: (e.left, e.right, str(e.left_key), str(e.right_key))))


def _end(key: Expr, signature: Signature) -> _End | None:
    """The source of a key, and the key over its columns."""
    source = _only_source(key, signature)
    return None if source is None else (source, shift_columns(key, -signature.starts[source]))


def spanning(edges: Sequence[Edge], order: Sequence[int]) -> list[Edge]:
    """The edges from which the others follow, if sources are joined in this order."""
    kept: list[Edge] = []
    for place, source in enumerate(order):
        known: set[Expr] = set()
        for other in order[:place]:
            ends = [e for e in edges if {e.left, e.right} == {source, other}]
            own = [e.left_key if e.left == source else e.right_key for e in ends]
            kept += [e for e, key in zip(ends, own, strict=True) if key not in known]
            known.update(own)
    return kept


def _connected(sources: int, edges: Sequence[Edge]) -> bool:
    reached = {0}
    for _ in range(sources):
        reached |= {end for e in edges if {e.left, e.right} & reached for end in (e.left, e.right)}
    return len(reached) == sources


def _compares_columns(term: Expr) -> bool:
    """Whether a condition has no constants, so that other queries are likely to have it too."""
    leaves = (e for e in walk(term) if not e.args)
    return all(isinstance(e, ColumnRef) for e in leaves)


def _sorted(terms: Iterable[Expr]) -> tuple[Expr, ...]:
    """The distinct terms, sorted by their text."""
    return tuple(sorted(set(terms), key=str))


def _swapped(term: Expr) -> Expr:
    """The term with ``<`` or ``<=`` instead of ``>`` or ``>=``."""
    if isinstance(term, Call) and term.function in _SWAPPED:
        return replace(term, function=_SWAPPED[term.function], arguments=term.arguments[::-1])
    return term


def _only_source(expr: Expr, signature: Signature) -> int | None:
    """The source whose columns an expression reads; 0 for a constant; None for several."""
    starts = signature.starts
    read = {
        next(i for i in range(len(starts)) if column < starts[i + 1]) for column in columns_of(expr)
    }
    return None if len(read) > 1 else next(iter(read), 0)


def stand_in(scan: StreamScan) -> StreamScan:
    """A scan of windows by time without their length."""
    return replace(scan, window=_BY_TIME)


def _without_length(leaf: Plan, joined: bool) -> Plan:
    if isinstance(leaf, StreamScan) and _expires_by_time(leaf):
        return stand_in(leaf)
    if isinstance(leaf, StreamScan) and joined and _expires_by_rows(leaf):
        return with_length(leaf, 1)
    return leaf


def with_length(scan: StreamScan, length: int) -> StreamScan:
    """A scan of a signature with windows of this length, in microseconds or rows."""
    window = scan.window
    if isinstance(window, (Rows, PartitionRows)):
        return replace(scan, window=replace(window, count=length))
    return replace(scan, window=Range(length))


def _row_lengths(leaves: Sequence[Plan]) -> tuple[RowLength | None, ...]:
    windows = [leaf.window if isinstance(leaf, StreamScan) else None for leaf in leaves]
    found = tuple(w.row_length if isinstance(w, Range) else None for w in windows)
    return found if any(found) else ()


def _length(leaf: Plan, joined: bool) -> int | None:
    window = leaf.window if isinstance(leaf, StreamScan) else None
    if isinstance(window, Range):
        return window.us
    return window.count if isinstance(window, (Rows, PartitionRows)) and joined else None
