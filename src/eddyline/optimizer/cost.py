"""The cost of a plan per unit of time: its utilisation, seconds of a core per second.

With l for an input's rate (lambda), N for its live rows, d for its distinct key values, o for the
output, and C for the cost of updating an aggregate:

================  ======================================  ==========================================
operator          Golab and Ozsu 2005, section 5.4.1      here
================  ======================================  ==========================================
filter, project,  sum(l)                                  the same
union
join,             l1 N1 + l2 N2: every state is scanned   with keys: hash tables: insert, probe and
intersection                                              drop each row, and build each result;
                                                          without keys: l1 N2 + l2 N1, as a row of
                                                          one input scans the other one
delta*            l No/2: the output is scanned           hash table and a heap of expiries
delta, classic    (input and output are stored)           counts in a hash table, by '+' and '-'
group-by          2 l C                                   the same, C = hash access + aggregates
negation          2 l1 log d1 + 2 l2 log d2, and the      the same with hash accesses for the
                  premature retractions                   logarithms
EXISTS,           (not in the paper)                      as negation; with a residual also the
NOT EXISTS                                                matches of either side
negative tuples   double everything but group-by and      each '-' costs what a '+' costs
                  negation
================  ======================================  ==========================================

So the paper's "twice" is the case in which every row is retracted by a '-': a ROWS window, or
:func:`cost` with ``negative_tuples=True``, which is the NEGATIVE TUPLE strategy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    FinalRows,
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
from eddyline.optimizer.estimates import Estimate, correction, estimate_node
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.selectivity import values_of
from eddyline.optimizer.statistics import UNKNOWN, Statistics


@dataclass(frozen=True)
class Cost:
    """The cost of a plan node and, recursively, of its inputs.

    Attributes:
        plan: the node.
        estimate: its output rates and live rows.
        own: seconds per second of the node alone.
        inputs: the costs of its inputs.
    """

    plan: Plan
    estimate: Estimate
    own: float
    inputs: tuple[Cost, ...]

    @property
    def total(self) -> float:
        """Utilisation of the whole plan, in cores; equal sub-plans run once and count once."""
        seconds: dict[Plan, float] = {}
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.plan not in seconds:
                seconds[node.plan] = node.own
                waiting += node.inputs
        return sum(seconds.values())

    def nodes(self) -> Iterator[Cost]:
        """The node and all nodes below it, as EXPLAIN shows them: once, except for sources."""
        return self._unseen(set())

    def _unseen(self, seen: set[Plan]) -> Iterator[Cost]:
        yield self
        if self.plan not in seen:
            seen.add(self.plan)
            for below in self.inputs:
                yield from below._unseen(seen)


def cost(
    plan: Plan,
    statistics: Statistics = UNKNOWN,
    prices: Prices = TYPICAL,
    *,
    negative_tuples: bool = False,
    known: dict[Plan, Cost] | None = None,
) -> Cost:
    """The expected cost of running a plan, without the calls of its operators.

    Args:
        negative_tuples: whether every expiry is signalled by a '-' (the NEGATIVE TUPLE strategy).
        known: a cache of costs by the same statistics and prices; this call adds to it.
    """
    known = {} if known is None else known
    found_before = known.get(plan)
    if found_before is not None:
        return found_before
    inputs = tuple(
        cost(i, statistics, prices, negative_tuples=negative_tuples, known=known)
        for i in plan.inputs
    )
    estimates = [i.estimate for i in inputs]
    found = estimate_node(plan, estimates, statistics)
    loads = [e.rate + (e.rate if negative_tuples else e.retracted) for e in estimates]
    own = _own(plan, found, estimates, loads, statistics, prices)
    known[plan] = Cost(plan, found, own, inputs)
    return known[plan]


def _own(
    plan: Plan,
    output: Estimate,
    inputs: list[Estimate],
    loads: list[float],
    statistics: Statistics,
    prices: Prices,
) -> float:
    """Utilisation of one node; ``loads`` are its inputs' '+' and '-' rows per second.

    Other kinds are assumed to look up a key for each change.
    """
    match plan:
        case StreamScan():
            return prices.pass_s * (output.rate + output.retracted)
        case TableScan():
            changes = 0.0 if plan.updates == "static" else statistics.table_rate(plan.table)
            return (prices.insert_s + prices.invalidate_s) * changes
        case Filter() | Project() | Unnest() | Windowed() | FinalRows() | Union():
            return prices.pass_s * sum(loads)
        case Product():
            return math.inf  # no operator computes a Product
        case Join():
            return _join(plan, inputs, loads, correction(plan, statistics), prices)
        case Negation() | SemiJoin() | AntiJoin():
            return _matching(plan, output, inputs, prices)
        case SharedRows():
            raise AssertionError("the rows of flows have no cost of their own")
        case Distinct():
            return _distinct(plan, output, loads[0], prices)
        case GroupBy():
            per_change = prices.probe_s + prices.aggregate_s * len(plan.aggregates)
            return 2 * inputs[0].rate * per_change
    return prices.probe_s * sum(loads) + prices.make_s * (output.rate + output.retracted)


def _join(
    plan: Join, inputs: list[Estimate], loads: list[float], corrected: float, prices: Prices
) -> float:
    per_row = prices.insert_s
    if plan.keys:
        per_row += prices.probe_s + prices.invalidate_s
    visited = corrected * _key_matches(plan, inputs, loads)
    per_pair = prices.compare_s + prices.make_s
    if plan.residual is not None:  # evaluated over the pairs with equal keys
        per_pair += prices.pass_s
    return per_row * sum(loads) + per_pair * visited


def _distinct(plan: Distinct, output: Estimate, load: float, prices: Prices) -> float:
    if plan.input.pattern == Pattern.STR:  # counters: every row is added and removed
        counted = (prices.insert_s + prices.invalidate_s) * load
        return counted + prices.make_s * (output.rate + output.retracted)
    return prices.probe_s * load + (prices.expire_s + prices.make_s) * output.rate


def _matching(
    plan: Negation | SemiJoin | AntiJoin, output: Estimate, inputs: list[Estimate], prices: Prices
) -> float:
    rates = [e.rate for e in inputs]
    counted = (prices.insert_s + prices.expire_s + prices.invalidate_s) * sum(rates)
    shown = prices.make_s * output.rate
    shown += (prices.probe_s + prices.make_s) * 2 * output.retracted
    if isinstance(plan, Negation) or plan.residual is None:
        return counted + shown
    return counted + shown + prices.compare_s * _key_matches(plan, inputs, rates)


def _key_matches(
    plan: Join | SemiJoin | AntiJoin, inputs: list[Estimate], loads: list[float]
) -> float:
    """Pairs per second with equal keys; without keys, all pairs that a nested loop visits."""
    left, right = inputs
    values = [max(values_of(a, left.values), values_of(b, right.values)) for a, b in plan.keys]
    return _meetings(inputs, loads) / math.prod(values)


def _meetings(inputs: list[Estimate], loads: list[float]) -> float:
    """Pairs per second of an arriving row and a live row of the other input."""
    left, right = inputs
    return loads[0] * right.rows + loads[1] * left.rows
