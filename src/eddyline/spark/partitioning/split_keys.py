"""Split keys: frequent keys whose rows are not all at one coordinate of an axis.

Where rows are dealt by key, all rows of a frequent key are in one cell. *Splitting* the key deals
the rows of one input that have it by position, and copies those of the other inputs to all
coordinates. A layout allows this if each of its queries, over the rows of that key alone, is local
in this way too (:mod:`~eddyline.spark.partitioning.locality`): every result has one row of the
spread input, and is made where that is.

The dealing can change while the windows have rows if, at every instant, each cell with a live row
of the spread input has all live rows of the others:

1. First the other inputs are copied. Rows of the spread input stay at the key's own coordinate.
2. Rows that were not copied have timestamps up to N, the largest one before the copies began. When
   the watermark has reached N plus the longest window, they are not live any more: later rows that
   are not late meet copied ones only. From then on the first input is spread.
3. To end, rows of the first input go to the own coordinate again. When the watermark has reached
   the largest timestamp of the spread ones plus the longest window, copies end.

4. When the last copies have expired as well, the key may be split again, also with another input
   that is spread. Before, copies of both inputs could meet.

In cells without rows of the spread input it does not matter which rows of the others they have:
results need a row of it. So the inputs that are copied must have windows over time, the same in
all cells; the spread input may have any that the proof admits.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from eddyline.algebra.plan import TableScan
from eddyline.algebra.reads import nodes, stream_scans, streams_read
from eddyline.algebra.windows import Range
from eddyline.spark.partitioning.layouts import COPIED, SPREAD, ByKey, Layout
from eddyline.spark.partitioning.planned_query import PlannedQuery
from eddyline.spark.partitioning.planning import why_not


@dataclass(frozen=True)
class SplitKey:
    """How the rows of a frequent key are dealt along an axis. The rows of ``spread`` are spread if
    ``spreads``, else at the key's own coordinate; those of other inputs with the key are copied.

    Attributes:
        axis: its number. hash: of the key. spread: an input.
    """

    axis: int
    hash: int
    spread: str
    spreads: bool


def splittable(layout: Layout, queries: Iterable[PlannedQuery]) -> dict[int, tuple[str, ...]]:
    """By axis along which frequent keys can be split, the inputs that can be spread.

    Args:
        queries: all of the layout.
    """
    planned = list(queries)
    found = {
        number: tuple(
            name
            for name in keyed_inputs(layout, number)
            if all(why_not_split(layout, number, name, query) is None for query in planned)
        )
        for number in range(len(layout.axes))
    }
    return {number: inputs for number, inputs in found.items() if inputs}


def keyed_inputs(layout: Layout, axis: int) -> tuple[str, ...]:
    """The inputs whose rows have their coordinate along an axis by key."""
    return tuple(n for n, along in layout.inputs.items() if isinstance(along[axis], ByKey))


def why_not_split(layout: Layout, axis: int, spread: str, query: PlannedQuery) -> str | None:
    """Why a query does not allow rows of ``spread`` with a frequent key to be spread along an axis
    and those of the other inputs to be copied; None: it does.
    """
    if spread not in streams_read(query.plan):
        return f"it does not read a stream {spread}"
    copied = {n for n in keyed_inputs(layout, axis) if n in query.inputs and n != spread}
    changing = {n.table for n in nodes(query.plan) if isinstance(n, TableScan)} | {query.rules}
    for name in sorted(copied & changing):
        return f"rows of table {name} do not expire"
    for scan in stream_scans(query.plan):
        if scan.stream in copied and not isinstance(scan.window, Range):
            return f"{scan.label} is not a window over time"
    rule = {n: SPREAD if n == spread else COPIED for n in query.inputs}
    return why_not(query, rule)


def longest_window_us(queries: Iterable[PlannedQuery], inputs: Container[str]) -> float:
    """The longest window over time of some inputs; infinite if one is of another kind."""
    windows = (s.window for q in queries for s in stream_scans(q.plan) if s.stream in inputs)
    return max((w.us if isinstance(w, Range) else math.inf for w in windows), default=0)


#: By axis and input, by query, why it does not allow rows of the input to be spread; without those
#: that do.
Refusals = Mapping[tuple[int, str], Mapping[str, str]]


def refusals(layout: Layout, queries: Mapping[str, PlannedQuery]) -> Refusals:
    """Why frequent keys of a layout are not split, for EXPLAIN.

    Args:
        queries: all of the layout, by name.
    """
    return {
        (axis, spread): {
            name: why
            for name, query in queries.items()
            if (why := why_not_split(layout, axis, spread, query)) is not None
        }
        for axis in range(len(layout.axes))
        for spread in keyed_inputs(layout, axis)
    }


def explained(
    layout: Layout, name: str, streams: Container[str], refused: Refusals
) -> Iterator[str]:
    """For EXPLAIN: for each axis with keys, what happens to frequent keys.

    Args:
        name: of a query. streams: that it reads.
    """
    for number, axis in enumerate(layout.axes):
        inputs = [n for n in keyed_inputs(layout, number) if n in streams]
        of_all = [refused[number, n] for n in inputs]
        allowed = [n for n, of in zip(inputs, of_all, strict=True) if not of]
        if allowed:
            yield f"frequent keys of {axis.label} can be split: rows of {_either(allowed)} spread"
            continue
        others = [next(iter(of.items())) for of in of_all if name not in of]
        whys = [f"{other}: {why}" for other, why in others] or [of[name] for of in of_all]
        if whys:
            why_none = "; ".join(dict.fromkeys(whys))
            yield f"frequent keys of {axis.label} are not split: {why_none}"


def _either(names: list[str]) -> str:
    return " or ".join(names)
