"""The cost of a plan per unit of time: row steps per second, to compare plans with each other.

With l for an input's rate (lambda), N for its rows alive, d for its distinct key values, o for the
output, and C for the cost of bringing an aggregate up to date:

================  ======================================  ==========================================
operator          Golab and Ozsu 2005, section 5.4.1      here
================  ======================================  ==========================================
filter, project,  sum(l)                                  the same
union
join,             l1 N1 + l2 N2: every state is scanned   with keys: hash tables, so insert, probe
intersection                                              and drop each row, and make each match;
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

So the paper's "twice" is the case in which every row is taken back by a '-': a ROWS window, or
:func:`cost` with ``negative_tuples=True``, which is the NEGATIVE TUPLE strategy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from eddyline.algebra.patterns import Pattern
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
    StreamScan,
    TableScan,
    Union,
)
from eddyline.optimizer.estimates import Estimate, estimate_node, join_share
from eddyline.optimizer.selectivity import values_of
from eddyline.optimizer.statistics import UNKNOWN, Statistics

# What one row costs in one step, relative to passing a filter. Only their ratios matter: plans
# differ by factors in the number of rows that take these steps.
PASS: Final = 1.0  #: evaluate an expression, hand a row on
HASH: Final = 4.0  #: find, add or drop a row in a hash table
MAKE: Final = 2.0  #: make a result row of two
EXPIRE: Final = 3.0  #: push to and pop from the rows ordered by expiry
AGGREGATE: Final = 1.0  #: bring one aggregate up to date
COMPARE: Final = 0.25  #: look at one row of a state that is scanned


@dataclass(frozen=True)
class Cost:
    """What a plan node costs, with its inputs.

    Attributes:
        plan: the node.
        estimate: what it emits and holds.
        own: row steps per second of the node alone.
        inputs: the same for each of its inputs.
    """

    plan: Plan
    estimate: Estimate
    own: float
    inputs: tuple[Cost, ...]

    @property
    def total(self) -> float:
        """Row steps per second of the whole plan; equal sub-plans run, and count, once."""
        return sum({node.plan: node.own for node in self.nodes()}.values())

    def nodes(self) -> Iterator[Cost]:
        """The node and all below it, in the order of EXPLAIN."""
        yield self
        for below in self.inputs:
            yield from below.nodes()


def cost(plan: Plan, statistics: Statistics = UNKNOWN, *, negative_tuples: bool = False) -> Cost:
    """The expected cost of running a plan.

    Args:
        negative_tuples: whether every expiry is signalled by a '-' (the NEGATIVE TUPLE strategy).
    """
    inputs = tuple(cost(i, statistics, negative_tuples=negative_tuples) for i in plan.inputs)
    estimates = [i.estimate for i in inputs]
    found = estimate_node(plan, estimates, statistics)
    loads = [e.rate + (e.rate if negative_tuples else e.retracted) for e in estimates]
    return Cost(plan, found, _own(plan, found, estimates, loads, statistics), inputs)


def _own(
    plan: Plan,
    output: Estimate,
    inputs: list[Estimate],
    loads: list[float],
    statistics: Statistics,
) -> float:
    """Row steps per second of one node; ``loads`` are its inputs' '+' and '-' rows per second."""
    match plan:
        case StreamScan():
            return PASS * (output.rate + output.retracted)
        case TableScan():
            changes = 0.0 if plan.updates == "static" else statistics.table_rate(plan.table)
            return HASH * 2 * changes
        case Filter() | Project() | Union():
            return PASS * sum(loads)
        case Product():
            return math.inf  # has no operator
        case Join():
            return _join(plan, inputs, loads)
        case Distinct():
            return _distinct(plan, output, loads[0])
        case GroupBy():
            return 2 * inputs[0].rate * (HASH + AGGREGATE * len(plan.aggregates))
    assert isinstance(plan, (Negation, SemiJoin, AntiJoin)), f"no cost for {type(plan).__name__}"
    return _matching(plan, output, inputs)


def _join(plan: Join, inputs: list[Estimate], loads: list[float]) -> float:
    stored = HASH * (3 if plan.keys else 1) * sum(loads)  # insert, probe, drop
    made = _meetings(inputs, loads) * join_share(plan, *inputs)
    return stored + COMPARE * _key_matches(plan, inputs, loads) + MAKE * made


def _distinct(plan: Distinct, output: Estimate, load: float) -> float:
    if plan.input.pattern == Pattern.STR:  # counts: every row comes and goes
        return HASH * 2 * load + MAKE * (output.rate + output.retracted)
    return HASH * load + (EXPIRE + MAKE) * output.rate


def _matching(
    plan: Negation | SemiJoin | AntiJoin, output: Estimate, inputs: list[Estimate]
) -> float:
    rates = [e.rate for e in inputs]
    counted = HASH * 2 * sum(rates)  # as rows come, and as they go
    shown = MAKE * output.rate + (HASH + MAKE) * 2 * output.retracted
    if isinstance(plan, Negation) or plan.residual is None:
        return counted + shown
    return counted + shown + COMPARE * _key_matches(plan, inputs, rates)


def _key_matches(
    plan: Join | SemiJoin | AntiJoin, inputs: list[Estimate], loads: list[float]
) -> float:
    """Pairs per second that agree on the keys; without keys, all that a nested loop visits."""
    left, right = inputs
    values = [max(values_of(a, left.values), values_of(b, right.values)) for a, b in plan.keys]
    return _meetings(inputs, loads) / math.prod(values)


def _meetings(inputs: list[Estimate], loads: list[float]) -> float:
    """Pairs per second of a row that comes and a row that is there."""
    left, right = inputs
    return loads[0] * right.rows + loads[1] * left.rows
