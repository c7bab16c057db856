"""Values of matches: columns of their rows, and aggregates over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eddyline.kernels.lists import ranges
from eddyline.kernels.matched_rows import members, pick
from eddyline.runtime.aggregates import Aggregate
from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.failures import Failure, collecting
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.running import RunningAggregates
from eddyline.types import FOREVER


@dataclass(frozen=True, slots=True)
class RowValue:
    """A value of one row of a match.

    Attributes:
        variables: whose rows count, as bits. from_end: the last of them, else the first. offset:
            rows further in. final: of the whole match, else of the rows up to the current one.
        evaluate: computes it from extended rows.
    """

    variables: int
    from_end: bool
    offset: int
    final: bool
    evaluate: Evaluator


@dataclass(frozen=True, slots=True)
class AggregateValue:
    """An aggregate over rows of a match; ``argument`` None: over whole rows."""

    variables: int
    final: bool
    argument: Evaluator | None
    make: Callable[[], Aggregate]
    name: str


#: What is computed of a match.
Value = RowValue | AggregateValue
#: Makes extended rows of items.
RowsOf = Callable[[Array], Batch]


@dataclass(frozen=True)
class Shown:
    """Rows of the output.

    Attributes:
        match: int64[n], which match each is of. item: int64[n], a row of it.
        columns: one per value.
    """

    match: Array
    item: Array
    columns: list[pa.Array]


class MatchValues:
    """Computes values of matches.

    Args:
        values: what is computed. all_rows: for each row of a match, else for the match.
    """

    def __init__(self, values: Sequence[Value], *, all_rows: bool) -> None:
        self._values = tuple(values)
        self._all_rows = all_rows

    def shown(
        self, first: Array, count: Array, label: Array, rows_of: RowsOf
    ) -> tuple[Shown, list[Failure]]:
        """The rows of the output, without those of which a value fails, and what has failed.

        Args:
            first, count: int64[m], the items of matches. label: int64 by item, their variables.
        """
        end = first + count
        match, item = np.arange(first.size), first
        low, running = first, end
        if self._all_rows:
            match = np.repeat(match, count)
            item = ranges(first, np.concatenate(([0], np.cumsum(count))))
            low, running, end = first[match], item + 1, end[match]
        failed = np.zeros(match.size, np.bool_)
        failures: list[Failure] = []
        columns = []
        for value in self._values:
            high = end if value.final else running
            if isinstance(value, RowValue):
                column = _row_value(value, low, high, label, rows_of, failed, failures)
            else:
                column = _aggregate(value, low, high, label, rows_of, failed, failures)
            columns.append(column)
        if failed.any():
            good = np.flatnonzero(~failed)
            match, item = match[good], item[good]
            columns = [c.take(pa.array(good)) for c in columns]
        return Shown(match, item, columns), failures


def _row_value(
    value: RowValue,
    low: Array,
    high: Array,
    label: Array,
    rows_of: RowsOf,
    failed: Array,
    failures: list[Failure],
) -> pa.Array:
    picked = pick(low, high, label, value.variables, value.from_end, value.offset)
    known = np.flatnonzero(picked >= 0)
    rows = rows_of(picked[known])
    with collecting() as found:
        column = value.evaluate(rows)
    for failure in found:
        failed[known[failure.rows]] = True
    failures += found
    if known.size == picked.size:
        return column
    place = np.full(picked.size, -1, np.int64)
    place[known] = np.arange(known.size)
    return column.take(pa.array(place, mask=place < 0))


def _aggregate(
    value: AggregateValue,
    low: Array,
    high: Array,
    label: Array,
    rows_of: RowsOf,
    failed: Array,
    failures: list[Failure],
) -> pa.Array:
    group, item = members(low, high, label, value.variables)
    column = None
    if value.argument is not None:
        rows = rows_of(item)
        with collecting() as found:
            column = value.argument(rows)
        for failure in found:
            failed[group[failure.rows]] = True
        failures += found
    aggregates = RunningAggregates([value.make()])
    aggregates.add(group, [column], low.size)
    computed = aggregates.values(np.arange(low.size))
    new = np.flatnonzero(computed.failed & ~failed)
    if new.size:
        failed[new] = True
        reasons = computed.reasons.take(pa.array(new))
        failures.append(Failure(rows_of(low[new]), np.arange(new.size), reasons))
    return computed.columns[0]


def items_as_rows(columns: Sequence[pa.Array], ts: Array, number: Array) -> Batch:
    """Rows with these columns; ``number`` identifies them."""
    n = ts.size
    return Batch(
        ts,
        np.zeros(n, np.int64),
        np.full(n, FOREVER, np.int64),
        np.ones(n, np.int8),
        (number,),
        (None,),
        tuple(columns),
    )
