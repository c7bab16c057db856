"""The partitioning of a group's queries: which layouts there are, and which queries each has.

In a layout with several cells, every cell gets the timestamps of all rows of the streams that have
a window of rows ([ROWS n]): a part of the cost of rows, which no number of cells divides. So such
windows are divided for the work behind them, and least is gained where there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from eddyline.algebra.expressions import Expr
from eddyline.algebra.plan import Plan
from eddyline.algebra.reads import streams_read, tables_read
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.spark.partitioning.axes import Candidate, candidates
from eddyline.spark.partitioning.held_rows import NotLocal
from eddyline.spark.partitioning.layouts import (
    COPIED,
    Axis,
    ByKey,
    Coordinate,
    Layout,
    Spread,
    one_cell,
)
from eddyline.spark.partitioning.locality import require_local
from eddyline.spark.partitioning.planned_query import PlannedQuery
from eddyline.spark.partitioning.shares import choose_sizes

#: Keys with more values than this, for each shard, are equally good.
_ENOUGH_VALUES: Final = 64
#: A layout in which a query has this many times the rows per cell of its best one is not shared.
_TOLERATED: Final = 2.0
#: Of layouts with equal rows per cell, the best one of a query is preferred.
_OTHER: Final = 1 + 1e-6
#: Cost of the timestamp of a row of another cell, in rows: it is sent, stored and counted, but no
#: operator behind the window has it. An estimate.
TIMESTAMP_COST: Final = 0.25


def layouts(
    queries: Mapping[str, PlannedQuery], shards: int, statistics: Statistics = UNKNOWN
) -> list[tuple[Layout, tuple[str, ...]]]:
    """The layouts of a group, each with the names of its queries.

    Each query is in one layout, which fits it (:func:`as_run`). What is chosen does not depend on
    the order of the queries; layouts, and the names in them, are in that order.

    Args:
        queries: by name, at least one.
        shards: the largest number of cells of a layout.
        statistics: rates and numbers of values; equal rates are assumed where they are unknown.
    """
    if shards == 1:
        inputs = {name: None for query in queries.values() for name in query.inputs}
        return [(one_cell(dict(sorted(inputs.items()))), tuple(queries))]
    options = {name: _options(q, shards, statistics) for name, q in queries.items()}
    chosen = _merged(_cover(queries, options, statistics))
    order = {name: place for place, name in enumerate(queries)}
    found = [
        (
            _counting(layout, (queries[n] for n in names)),
            tuple(sorted(names, key=order.__getitem__)),
        )
        for layout, names in chosen
    ]
    return sorted(found, key=lambda f: order[f[1][0]])


def best_layout(query: PlannedQuery, shards: int, statistics: Statistics = UNKNOWN) -> Layout:
    """The layout that a query would have alone."""
    ((layout, _),) = layouts({"": query}, shards, statistics)
    return layout


def as_run(layout: Layout, query: PlannedQuery) -> PlannedQuery | None:
    """What the cells of a layout run for a query: the query, if each result is made in exactly one
    of them; else that which makes its partial groups; None: the query does not fit.
    """
    return next((q for q in (query, query.in_parts) if q is not None and fits(layout, q)), None)


def fits(layout: Layout, query: PlannedQuery) -> bool:
    """Whether a query can run in the cells of a layout as it is: each result is made in exactly
    one, and each cell counts the rows of all streams of which the query has windows of rows.
    """
    return _is_local(layout, query) and (not layout.axes or query.counted <= layout.counted)


def _is_local(layout: Layout, query: PlannedQuery) -> bool:
    if not set(query.inputs) <= layout.inputs.keys():
        return False
    names = {*query.inputs, *(tables_read(query.plan) & layout.inputs.keys())}
    along = ({n: layout.inputs[n][i] for n in names} for i in range(len(layout.axes)))
    return all(why_not(query, axis) is None for axis in along)


def _counting(layout: Layout, queries: Iterable[PlannedQuery]) -> Layout:
    """The layout, with the counted streams of its queries."""
    if not layout.axes:
        return layout
    return replace(layout, counted=frozenset().union(*(q.counted for q in queries)))


def why_not(query: PlannedQuery, axis: Mapping[str, Coordinate]) -> str | None:
    """Why the cells along an axis cannot run a query; None: they can."""
    if query.rules is not None and axis[query.rules] != COPIED:
        return f"each cell needs all rows of {query.rules}"
    for stream in sorted(query.by_row & axis.keys()):
        return (
            f"{stream} judges the lateness of a row by all rows before it (lateness_by = 'row'); "
            "lateness_by = 'batch' does not"
        )
    return _why_not_local(query.plan, tuple(sorted(axis.items(), key=lambda i: i[0])))


@lru_cache(maxsize=65_536)
def _why_not_local(plan: Plan, axis: tuple[tuple[str, Coordinate], ...]) -> str | None:
    try:
        require_local(plan, dict(axis))
    except NotLocal as e:
        return str(e)
    return None


# -- the layouts of one query ------------------------------------------


@dataclass(frozen=True)
class _Options:
    """The layouts that a query could have; the first is the best for it alone.

    Attributes:
        in_parts: whether it may run in parts, because this one divides its groups.
    """

    layouts: tuple[Layout, ...]
    in_parts: bool = False


def _options(query: PlannedQuery, shards: int, statistics: Statistics) -> _Options:
    """The layouts of a query. Groups are divided if otherwise there is one cell, or if each has
    twice the rows: merging them has a price, too.
    """
    whole = _local_layouts(query, shards, statistics)
    if query.in_parts is None:
        return _Options(whole)
    divided = _local_layouts(query.in_parts, shards, statistics)
    if not divided[0].axes:
        return _Options(whole)
    rows, rows_divided = (_rows(best, query, statistics) for best in (whole[0], divided[0]))
    if not whole[0].axes or rows >= _TOLERATED * rows_divided:
        return _Options(divided, in_parts=True)
    return _Options(whole)


def _local_layouts(query: PlannedQuery, shards: int, statistics: Statistics) -> tuple[Layout, ...]:
    """The layouts of a query as it is; the first is the best."""
    possible = candidates(query.plan, query.inputs, statistics, query.large)
    refused = [why_not(query, c.coordinates) for c in possible]
    local = [c for c, why in zip(possible, refused, strict=True) if why is None]
    if not local:
        by_key = [w for c, w in zip(possible, refused, strict=True) if w and c.has_key]
        reason = next(iter([*by_key, *filter(None, refused)]), "it reads no stream")
        return (one_cell(dict.fromkeys(query.inputs), reason),)
    enough = shards * _ENOUGH_VALUES
    local.sort(key=lambda c: -min(c.values, enough))
    best = _grid(query, _without_dominated(local, shards), shards, statistics)
    single = [_grid(query, [c], shards, statistics) for c in local if c.copied <= _tables(query)]
    return tuple(dict.fromkeys((best, *(s for s in single if s.axes))))


def _tables(query: PlannedQuery) -> frozenset[str]:
    return frozenset(query.inputs) - streams_read(query.plan)


def _without_dominated(local: Sequence[Candidate], shards: int) -> list[Candidate]:
    """The candidates for which no other one copies less, or as much with as many coordinates."""
    kept: list[Candidate] = []
    for i, candidate in enumerate(local):
        size = min(shards, candidate.values)
        if not any(
            min(shards, other.values) >= size
            and (other.copied < candidate.copied or (other.copied == candidate.copied and j < i))
            for j, other in enumerate(local)
        ):
            kept.append(candidate)
    return kept


def _grid(
    query: PlannedQuery, axes: Sequence[Candidate], shards: int, statistics: Statistics
) -> Layout:
    streams = streams_read(query.plan)
    names = query.inputs
    # timestamps in all cells cost the same for any sizes: the rest of a row is divided
    divided = dict.fromkeys(query.counted, 1 - TIMESTAMP_COST)
    rates = tuple(_rate(n, streams, statistics) * divided.get(n, 1) for n in names)
    copied = tuple(frozenset(i for i, n in enumerate(names) if n in c.copied) for c in axes)
    limits = tuple(int(min(shards, c.values)) for c in axes)
    sizes = choose_sizes(rates, copied, limits, shards)
    used = [(c.coordinates, size) for c, size in zip(axes, sizes, strict=True) if size > 1]
    if not used:
        reason = "more cells would not have fewer rows each"
        return one_cell(dict.fromkeys(names), reason)
    return make_layout([{n: c[n] for n in names} for c, _ in used], [size for _, size in used])


def _rate(name: str, streams: Set[str], statistics: Statistics) -> float:
    return statistics.rate(name) if name in streams else statistics.table_rate(name)


def make_layout(axes: Sequence[Mapping[str, Coordinate]], sizes: Sequence[int]) -> Layout:
    """The layout with these axes, in the order of their labels.

    Args:
        axes: by input, the coordinate of its rows; all have the same inputs.
    """
    labelled = sorted(
        ((axis_label(axis), size, axis) for axis, size in zip(axes, sizes, strict=True)),
        key=lambda a: a[:2],
    )
    inputs = {n: tuple(axis[n] for _, _, axis in labelled) for n in sorted(axes[0])}
    return Layout(tuple(Axis(label, size) for label, size, _ in labelled), inputs)


def axis_label(axis: Mapping[str, Coordinate]) -> str:
    """What an axis is about: ``a.x = b.y``, or ``rows of a``."""
    keys = [_key_text(c.key) for c in axis.values() if isinstance(c, ByKey)]
    spread = [n for n, c in axis.items() if isinstance(c, Spread)]
    parts = [" = ".join(dict.fromkeys(keys))] if keys else []
    return ", ".join(parts + ([f"rows of {', '.join(spread)}"] if spread else []))


def _key_text(key: tuple[Expr, ...]) -> str:
    return str(key[0]) if len(key) == 1 else f"({', '.join(map(str, key))})"


# -- the layouts of a group --------------------------------------------


def _cover(
    queries: Mapping[str, PlannedQuery],
    options: Mapping[str, _Options],
    statistics: Statistics,
) -> list[tuple[Layout, list[str]]]:
    """Few layouts, such that each query is in one that suits it.

    The one that suits the most of the queries left is taken first; of equal ones that with the
    fewest rows per cell.
    """
    left = sorted(queries)
    offered = {_text(o): o for q in options.values() for o in q.layouts}
    loads = {
        text: {
            name: load
            for name in left
            if (load := _load(offered[text], queries[name], options[name], statistics)) is not None
        }
        for text in sorted(offered)
    }
    found = []
    while left:
        best = min(loads, key=lambda t: _badness(loads[t], left))
        found.append((offered[best], [n for n in left if n in loads[best]]))
        left = [n for n in left if n not in loads[best]]
    return found


def _badness(loads: Mapping[str, float], left: Iterable[str]) -> tuple[int, float]:
    found = [loads[name] for name in left if name in loads]
    return -len(found), float(f"{sum(found):.9g}")


def _load(
    layout: Layout, query: PlannedQuery, options: _Options, statistics: Statistics
) -> float | None:
    """Rows per second and cell of a query's inputs; None if the layout does not suit it: it does
    not fit, or has twice the rows per cell of the best one.
    """
    best = options.layouts[0]
    if layout == best:
        return _rows(layout, query, statistics)
    if not layout.axes or not set(query.inputs) <= layout.inputs.keys():
        return None
    load, least = (_rows(of, query, statistics) for of in (layout, best))
    if load >= _TOLERATED * least:
        return None
    runs = [query, query.in_parts] if options.in_parts else [query]
    suits = layout in options.layouts or any(q is not None and _is_local(layout, q) for q in runs)
    return _OTHER * load if suits else None


def _rows(layout: Layout, query: PlannedQuery, statistics: Statistics) -> float:
    """Rows per second and cell of a query's inputs; timestamps count as a part of a row."""
    streams, counted = streams_read(query.plan), query.counted
    found = 0.0
    for name in query.inputs:
        share = layout.copies(name) / layout.cells
        if name in counted:
            share += TIMESTAMP_COST * (1 - share)
        found += _rate(name, streams, statistics) * share
    return found


def _merged(chosen: Iterable[tuple[Layout, list[str]]]) -> list[tuple[Layout, list[str]]]:
    """Layouts of equal sizes that agree on what they have in common become one."""
    found: list[tuple[Layout, list[str]]] = []
    for layout, names in sorted(chosen, key=lambda c: _text(c[0])):
        for i, (other, others) in enumerate(found):
            both = _union(other, layout)
            if both is not None:
                found[i] = (both, [*others, *names])
                break
        else:
            found.append((layout, names))
    return found


def _union(first: Layout, second: Layout) -> Layout | None:
    if [a.size for a in first.axes] != [a.size for a in second.axes]:
        return None
    common = first.inputs.keys() & second.inputs.keys()
    if any(first.inputs[n] != second.inputs[n] for n in common):
        return None
    inputs = {**first.inputs, **second.inputs}
    if not first.axes:
        reasons = dict.fromkeys(r for r in (first.reason, second.reason) if r)
        return one_cell(dict(sorted(inputs.items())), "; ".join(reasons))
    axes = [{n: c[i] for n, c in sorted(inputs.items())} for i in range(len(first.axes))]
    return make_layout(axes, [a.size for a in first.axes])


def _text(layout: Layout) -> str:
    """Equal for equal layouts, and only for these."""
    sizes = [f"{a.label} {a.size}" for a in layout.axes]
    inputs = [f"{n} {[str(c) for c in layout.inputs[n]]}" for n in sorted(layout.inputs)]
    return "\n".join([*sizes, *inputs, layout.reason])
