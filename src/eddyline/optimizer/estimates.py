"""Estimates per edge of a plan: rates, live rows, numbers of values.

These are lambda, N and d of the update-patterns paper (section 5.4.1), in the steady state: windows
are full, values are uniform, columns independent. Live rows are always rate times mean lifetime
(Little's law).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

from eddyline.algebra.expressions import Call, ColumnRef, Expr, conjuncts
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    GroupBy,
    Join,
    Negation,
    Plan,
    Product,
    Project,
    SemiJoin,
    SharedRows,
    StreamScan,
    TableScan,
    Union,
    Unnest,
    Windowed,
)
from eddyline.algebra.windows import PartitionRows, Range, Rows
from eddyline.optimizer import matches
from eddyline.optimizer.join_results import pairs_of
from eddyline.optimizer.selectivity import equality_share, selectivity, values_of
from eddyline.optimizer.statistics import UNKNOWN, Statistics, values_of_type

#: In a sample with a larger share of distinct rows, the number of values has no upper bound.
_MAX_DISTINCT_SHARE: Final = 0.8
#: Elements of a list of which nothing is known.
_ELEMENTS: Final = 4
#: Assumed lifetime of rows that never expire.
ENDLESS_S: Final = 86_400.0


@dataclass(frozen=True)
class Estimate:
    """The estimated output and live rows of a plan node.

    Attributes:
        rate: '+' rows per second (lambda).
        retracted: '-' rows per second, for rows that are retracted before they expire.
        rows: live rows (N).
        values: per column, number of distinct values in the long run.
    """

    rate: float
    retracted: float
    rows: float
    values: tuple[float, ...]

    def distinct(self, exprs: Iterable[Expr]) -> float:
        """Number of live combinations of values (d)."""
        return occupied(math.prod(values_of(e, self.values) for e in exprs), self.rows)

    def scaled(self, share: float) -> Estimate:
        """The estimate for a share of the rows."""
        return replace(
            self, rate=self.rate * share, retracted=self.retracted * share, rows=self.rows * share
        )


def estimate(plan: Plan, statistics: Statistics = UNKNOWN) -> Estimate:
    """The estimate of a plan's output."""
    return estimate_node(plan, [estimate(i, statistics) for i in plan.inputs], statistics)


def premature_share(plan: Plan, statistics: Statistics = UNKNOWN) -> float:
    """The share of a plan's results that a '-' retracts before they expire, from 0 to 1.

    For negation it depends on the overlap of the key values of the two inputs, and on how often a
    right row arrives while left rows with its value are live (section 5.3.2).

    >>> from eddyline.algebra.windows import Range
    >>> premature_share(StreamScan("s", Range(1), ()))
    0.0
    """
    found = estimate(plan, statistics)
    return min(1.0, found.retracted / found.rate) if found.rate else 0.0


def occupied(values: float, rows: float) -> float:
    """The expected number of distinct values among a number of rows.

    >>> round(occupied(10, 1_000)), round(occupied(1_000_000, 10))
    (10, 10)
    """
    if math.isinf(values) or values <= 0:
        return rows if values else 0.0
    return -values * math.expm1(-rows / values)


def population(seen: float, rows: float) -> float:
    """The number of values of which ``seen`` occur in ``rows`` rows: inverse of :func:`occupied`.

    If most rows have distinct values, the result is a lower bound.

    >>> round(population(occupied(300, 1_000), 1_000)), round(population(1_000, 1_000))
    (300, 2154)
    """
    seen = min(seen, _MAX_DISTINCT_SHARE * rows)
    low, high = seen, 3 * rows + 1
    for _ in range(60):  # occupied() grows with the values
        middle = (low + high) / 2
        low, high = (middle, high) if occupied(middle, rows) < seen else (low, middle)
    return high


def join_share(plan: Join, left: Estimate, right: Estimate) -> float:
    """The share of all pairs of live rows that join."""
    share = selectivity(plan.residual, left.values + right.values)
    for a, b in plan.keys:
        share *= equality_share(values_of(a, left.values), values_of(b, right.values))
    return share


def correction(plan: Join, statistics: Statistics) -> float:
    """The results of a join, as far as it is known, as a multiple of the estimate."""
    if not statistics.corrections:
        return 1.0
    return statistics.correction(plan, pairs_of(plan))


def estimate_node(plan: Plan, inputs: Sequence[Estimate], statistics: Statistics) -> Estimate:
    """The estimate of one node, given those of its inputs; a typical one for other kinds."""
    match plan:
        case StreamScan():
            return _stream(plan, statistics)
        case TableScan():
            return _table(plan, statistics)
        case Filter():
            return _filtered(inputs[0], plan.predicate)
        case Project():
            values = tuple(values_of(e, inputs[0].values) for e in plan.exprs)
            return replace(inputs[0], values=values)
        case Unnest():
            return _unnested(plan, inputs[0])
        case Windowed():
            return _windowed(plan, inputs[0])
        case Product():
            return reduce(lambda a, b: _paired(a, b, 1.0, a.values + b.values), inputs)
        case Join():
            return _joined(plan, inputs[0], inputs[1], statistics)
        case Negation() | SemiJoin() | AntiJoin():
            return _matching(plan, *inputs)
        case Union():
            return _united(inputs)
        case GroupBy():
            return _grouped(plan, inputs[0])
        case Distinct():
            return _distinct(inputs[0])
        case SharedRows():
            raise AssertionError("the rows of flows are not estimated")
    return _by_default(plan, inputs)


def _unnested(plan: Unnest, input_: Estimate) -> Estimate:
    added = plan.schema[len(plan.input.schema) :]
    values = input_.values + tuple(values_of_type(f.type) for f in added)
    rate, retracted, rows = (_ELEMENTS * n for n in (input_.rate, input_.retracted, input_.rows))
    return Estimate(rate, retracted, rows, values)


def _windowed(plan: Windowed, input_: Estimate) -> Estimate:
    values = (*input_.values, *(values_of_type(f.type) for f in plan.schema[plan.start :]))
    rate = input_.rate * plan.windows.per_row
    return Estimate(rate, 0.0, rate * plan.windows.size_us / 2e6, values)


def _by_default(plan: Plan, inputs: Sequence[Estimate]) -> Estimate:
    """As many rows as the inputs have, with the values of an input that has the same columns."""
    rate = sum(e.rate for e in inputs)
    retracted = rate if plan.takes_back else 0.0
    alike = (e.values for p, e in zip(plan.inputs, inputs, strict=True) if p.schema == plan.schema)
    values = next(alike, tuple(values_of_type(f.type) for f in plan.schema))
    return Estimate(rate, retracted, sum(e.rows for e in inputs), values)


def _stream(plan: StreamScan, statistics: Statistics) -> Estimate:
    rate, longest = statistics.rate(plan.stream), min(ENDLESS_S, statistics.age_s)
    values = tuple(statistics.stream_values(plan.stream, f.name, f.type) for f in plan.fields)
    match plan.window:
        case Range(us):
            return Estimate(rate, 0.0, rate * min(us / 1e6, statistics.age_s), values)
        case Rows(count):
            return Estimate(rate, rate, min(float(count), rate * statistics.age_s), values)
        case PartitionRows(columns, _, count):
            parts = math.prod(values[c] for c in columns)
            return Estimate(rate, rate, min(count * parts, rate * longest), values)
    return Estimate(rate, 0.0, rate * longest, values)


def _table(plan: TableScan, statistics: Statistics) -> Estimate:
    """Only a retroactive table emits its changes."""
    rate = statistics.table_rate(plan.table) if plan.updates == "retroactive" else 0.0
    values = tuple(statistics.table_values(plan.table, f.name, f.type) for f in plan.fields)
    return Estimate(rate, rate, statistics.rows(plan.table), values)


def _filtered(input_: Estimate, predicate: Expr) -> Estimate:
    values = list(input_.values)
    for term in conjuncts(predicate):
        if isinstance(term, Call) and term.function == "=":
            for a, b in (term.args, term.args[::-1]):
                if isinstance(a, ColumnRef):
                    values[a.index] = min(values[a.index], values_of(b, input_.values))
    return replace(input_.scaled(selectivity(predicate, input_.values)), values=tuple(values))


def _joined(plan: Join, left: Estimate, right: Estimate, statistics: Statistics) -> Estimate:
    l_values, r_values = list(left.values), list(right.values)
    for a, b in plan.keys:
        common = min(values_of(a, left.values), values_of(b, right.values))
        if isinstance(a, ColumnRef):
            l_values[a.index] = common
        if isinstance(b, ColumnRef):
            r_values[b.index] = common
    share = join_share(plan, left, right) * correction(plan, statistics)
    return _paired(left, right, share, (*l_values, *r_values))


def _paired(left: Estimate, right: Estimate, share: float, values: tuple[float, ...]) -> Estimate:
    return Estimate(
        rate=(left.rate * right.rows + right.rate * left.rows) * share,
        retracted=(left.retracted * right.rows + right.retracted * left.rows) * share,
        rows=left.rows * right.rows * share,
        values=values,
    )


def _matching(plan: Negation | SemiJoin | AntiJoin, left: Estimate, right: Estimate) -> Estimate:
    side, other = (
        matches.InputEstimate(
            e.rate, e.rows, math.prod(values_of(k[i], e.values) for k in plan.keys)
        )
        for i, e in enumerate((left, right))
    )
    if isinstance(plan, Negation):
        shown = matches.surplus(side, other)
    else:
        test = matches.with_match if isinstance(plan, SemiJoin) else matches.without_match
        shown = test(side, other, selectivity(plan.residual, left.values + right.values))
    return Estimate(
        rate=left.rate * shown.share + shown.changes,
        retracted=left.retracted * shown.share + shown.changes,
        rows=shown.rows,
        values=left.values,
    )


def _united(inputs: Sequence[Estimate]) -> Estimate:
    return Estimate(
        sum(e.rate for e in inputs),
        sum(e.retracted for e in inputs),
        sum(e.rows for e in inputs),
        tuple(max(column) for column in zip(*(e.values for e in inputs), strict=True)),
    )


def _grouped(plan: GroupBy, input_: Estimate) -> Estimate:
    """Every arrival and every expiry emits a new row, which retracts the group's previous one."""
    rate = 2 * input_.rate
    values = [values_of(k, input_.values) for k in plan.keys]
    values += [values_of_type(a.type) for a in plan.aggregates]
    return Estimate(rate, rate, input_.distinct(plan.keys) if plan.keys else 1.0, tuple(values))


def _distinct(input_: Estimate) -> Estimate:
    """One row per value is in the output, with about the lifetime of the input's rows."""
    shown = occupied(math.prod(input_.values), input_.rows)
    return input_.scaled(shown / input_.rows if input_.rows else 0.0)
