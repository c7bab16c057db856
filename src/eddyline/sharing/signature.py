"""What queries can share: the plan of a select-project-join query, taken apart.

Queries with the same *signature* (the same sources, joined on the same keys) run in one flow: each
base row is filtered, stored and joined once for all of them. What may differ from query to query is
its *part*: predicates, lengths of windows, and the select list.

Two sources may be joined on no key. Then it is pairs that cost, and queries share them if they make
them of the same rows: the predicates of each source are in the signature, as are conditions that
compare columns without constants (``a.x < b.y``). Others over both (``a.x - b.y < 5``) may differ.

Source: Madden et al. 2002, section 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from eddyline.algebra.expressions import (
    Call,
    ColumnRef,
    Expr,
    columns_of,
    shift_columns,
    walk,
)
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
from eddyline.algebra.windows import Range, Rows, Unbounded
from eddyline.sharing.flat import Flat, flatten, in_canonical_order
from eddyline.types import Schema

#: Where the lengths of windows are the queries' own business, the source is read through one of
#: these: it says whether time or the number of rows is what counts.
_BY_TIME: Final = Unbounded(explicit=False)
_BY_ROWS: Final = Rows(1)

#: Comparisons of two columns that say the same with these when their sides are swapped.
_SWAPPED: Final = {">": "<", ">=": "<="}


@dataclass(frozen=True)
class Edge:
    """Two sources are joined on ``left_key = right_key``, each over its source's own columns."""

    left: int
    right: int
    left_key: Expr
    right_key: Expr


@dataclass(frozen=True)
class Signature:
    """What queries of one flow have in common.

    Attributes:
        sources: of a join, scans of streams; of their windows only the kind. A single source may be
            any plan.
        edges: the join graph, in an order of their own. Two sources may have none.
        theta: what joins them then: conditions over the columns of both, which all hold.
        filters: and per source the predicates over its own columns, in an order of their own.
    """

    sources: tuple[Plan, ...]
    edges: tuple[Edge, ...]
    theta: tuple[Expr, ...] = ()
    filters: tuple[tuple[Expr, ...], ...] = ()

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first column of each source among the columns of all, and the end of the last."""
        starts = [0]
        for source in self.sources:
            starts.append(starts[-1] + len(source.schema))
        return tuple(starts)

    @cached_property
    def schema(self) -> Schema:
        """The columns of all sources, side by side."""
        return tuple(f for s in self.sources for f in s.schema)

    @property
    def windowed(self) -> bool:
        """Whether rows live as long as each query's own windows say."""
        return len(self.sources) > 1 or _expires_by_time(self.sources[0])

    @property
    def counted(self) -> tuple[bool, ...]:
        """By source, whether each query's own windows count its rows."""
        joined = len(self.sources) > 1
        return tuple(joined and _expires_by_rows(source) for source in self.sources)


@dataclass(frozen=True)
class Part:
    """What a query brings into its flow.

    Attributes:
        filters: per source the predicates over its own columns.
        residual: predicates over the columns of all sources.
        windows: per source how long a row lives: so many microseconds, or until so many rows have
            come; None: for ever, or as the source says.
        outputs, names: the select list over the columns of all sources.
        above: what is made of the outputs, over a SharedRows of them; None: they are the results.
    """

    filters: tuple[tuple[Expr, ...], ...]
    residual: tuple[Expr, ...]
    windows: tuple[int | None, ...]
    outputs: tuple[Expr, ...]
    names: tuple[str, ...]
    above: Plan | None = None


def taken_apart(plan: Plan) -> tuple[Signature, Part] | None:
    """The signature and the query's part of a plan that a flow can run, else None.

    Joins that a flow cannot run are one source.
    """
    names = tuple(f.name for f in plan.schema)
    found = apart(flatten(plan, joins=True), names)
    return found or apart(flatten(plan, joins=False), names)


def apart(flat: Flat, names: tuple[str, ...]) -> tuple[Signature, Part] | None:
    """Likewise, of a plan that stands on leaves."""
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
        signature = replace(signature, theta=_sorted(theta), filters=tuple(map(_sorted, filters)))
    part = Part(
        tuple(map(tuple, filters)),
        tuple(residual),
        tuple(_length(leaf, joined) for leaf in flat.leaves),
        tuple(flat.outputs),
        names,
    )
    return signature, part


def _fits(flat: Flat) -> bool:
    """Joins are of streams whose rows expire by time, or leave windows of ROWS. A single source may
    be anything that begins with its streams, if there is something to filter.
    """
    if len(flat.leaves) > 1:
        return all(_expires_by_time(leaf) or _expires_by_rows(leaf) for leaf in flat.leaves)
    (only,) = flat.leaves
    return _expires_by_time(only) or (bool(flat.terms) and not _is_there_before(only))


def _expires_by_time(leaf: Plan) -> bool:
    return isinstance(leaf, StreamScan) and isinstance(leaf.window, (Range, Unbounded))


def _expires_by_rows(leaf: Plan) -> bool:
    return isinstance(leaf, StreamScan) and isinstance(leaf.window, Rows)


def _is_there_before(plan: Plan) -> bool:
    """Whether the plan has rows before any stream has: of tables, or of a global aggregate."""
    if isinstance(plan, TableScan) or (isinstance(plan, GroupBy) and not plan.keys):
        return True
    if isinstance(plan, Join):
        return all(map(_is_there_before, plan.inputs))
    if isinstance(plan, (Negation, SemiJoin, AntiJoin)):
        return _is_there_before(plan.left)
    return any(map(_is_there_before, plan.inputs))


def _edges(keys: Sequence[tuple[Expr, Expr]], signature: Signature) -> tuple[Edge, ...] | None:
    """The join graph; None if a key is computed from several sources."""
    edges = set()
    for a, b in keys:
        left, right = _only_source(a, signature), _only_source(b, signature)
        if left is None or right is None:
            return None
        if left > right:
            (left, a), (right, b) = (right, b), (left, a)
        starts = signature.starts
        edges.add(
            Edge(left, right, shift_columns(a, -starts[left]), shift_columns(b, -starts[right]))
        )
    return tuple(sorted(edges, key=lambda e: (e.left, e.right, str(e.left_key), str(e.right_key))))


def _connected(sources: int, edges: Sequence[Edge]) -> bool:
    reached = {0}
    for _ in range(sources):
        reached |= {end for e in edges if {e.left, e.right} & reached for end in (e.left, e.right)}
    return len(reached) == sources


def _compares_columns(term: Expr) -> bool:
    """Whether a condition is made of columns only, so that other queries may well have it too."""
    leaves = (e for e in walk(term) if not e.args)
    return all(isinstance(e, ColumnRef) for e in leaves)


def _sorted(terms: Iterable[Expr]) -> tuple[Expr, ...]:
    """Different terms, in an order of their own."""
    return tuple(sorted(set(terms), key=str))


def _swapped(term: Expr) -> Expr:
    """The term with what is less on the left."""
    if isinstance(term, Call) and term.function in _SWAPPED:
        return replace(term, function=_SWAPPED[term.function], arguments=term.arguments[::-1])
    return term


def _only_source(expr: Expr, signature: Signature) -> int | None:
    """The one source whose columns an expression reads; the first for a constant."""
    starts = signature.starts
    read = {
        next(i for i in range(len(starts)) if column < starts[i + 1]) for column in columns_of(expr)
    }
    return None if len(read) > 1 else next(iter(read), 0)


def _without_length(leaf: Plan, joined: bool) -> Plan:
    if isinstance(leaf, StreamScan) and _expires_by_time(leaf):
        return replace(leaf, window=_BY_TIME)
    if isinstance(leaf, StreamScan) and joined and _expires_by_rows(leaf):
        return replace(leaf, window=_BY_ROWS)
    return leaf


def _length(leaf: Plan, joined: bool) -> int | None:
    window = leaf.window if isinstance(leaf, StreamScan) else None
    if isinstance(window, Range):
        return window.us
    return window.count if isinstance(window, Rows) and joined else None
