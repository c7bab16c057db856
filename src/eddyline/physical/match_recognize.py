"""What MATCH_RECOGNIZE computes, compiled."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from eddyline.algebra.expressions import Expr, columns_of, conjunction, conjuncts
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.algebra.nodes.match_recognize import (
    MatchedAggregate,
    MatchRecognize,
    Navigation,
    OfMatch,
)
from eddyline.algebra.row_patterns import Skip
from eddyline.algebra.run_conditions import kind_of, reads_match
from eddyline.kernels import pattern_state as kernels
from eddyline.kernels.pattern_state import SPLIT, Program
from eddyline.physical.clauses import clauses
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.physical.match_programs import beginnings, program
from eddyline.physical.run_programs import run_programs
from eddyline.runtime import aggregates as runtime
from eddyline.runtime.match_values import AggregateValue, RowValue, Value
from eddyline.runtime.operators.match_recognize import Matching, RunValue
from eddyline.runtime.operators.row_conditions import RowCondition
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.match_lists import RunConditions

#: An attempt that reads rows matched before, and so tries each way to match, ends after so many.
_MOST_STEPS: Final = 10_000_000
_SKIPS: Final = {
    "past last": kernels.PAST_LAST,
    "next": kernels.TO_NEXT,
    "first": kernels.TO_FIRST,
    "last": kernels.TO_LAST,
}


def matching(plan: MatchRecognize) -> Matching:
    """The parts of a node, compiled."""
    width = len(plan.input.schema)
    shared, alone, of_run = zip(*(_divided(c, width) for c in plan.conditions), strict=True)
    runs = run_programs(of_run)
    conditions = RunConditions(
        runs.trackers,
        runs.steps,
        runs.starts,
        runs.constants,
        len(runs.values),
        runs.registers,
    )
    code = _code(plan)
    return Matching(
        partition=tuple(c.index for c in plan.partition),
        names=tuple(f.name for f in plan.input.schema),
        types=tuple(f.type for f in plan.extended),
        shifted=plan.shifted,
        variables=plan.variables,
        shared=tuple(None if c is None else RowCondition(c, clauses((c,))) for c in shared),
        predicates=tuple(None if p is None else compile_predicate(p) for p in alone),
        code=code,
        program=_program(plan, int((code[:, 0] == SPLIT).sum()), reads_run=len(runs.trackers) > 0),
        conditions=conditions,
        run_values=tuple(RunValue(compile_expr(e), kind_of(e.type) or "int") for e in runs.values),
        texts=tuple(runs.texts.items()),
        values=tuple(map(_value, plan.values)),
        all_rows=plan.all_rows,
        kept=_kept(plan),
    )


def _divided(condition: Expr | None, width: int) -> tuple[Expr | None, Expr | None, Expr | None]:
    """The terms that patterns over the same rows can share, others on a row alone, and those that
    read rows matched before it. The first have no columns from ``width`` on, and cannot fail.
    """
    shared: list[Expr] = []
    alone: list[Expr] = []
    of_run: list[Expr] = []
    for term in conjuncts(condition):
        if reads_match(term):
            of_run.append(term)
        elif max(columns_of(term), default=width) >= width or can_fail(term):
            alone.append(term)
        else:
            shared.append(term)
    first, second, third = (conjunction(tuple(t)) for t in (shared, alone, of_run))
    return first, second, third


def _code(plan: MatchRecognize) -> Array:
    """The instructions, with the numbers of splits."""
    splits, rows = 0, []
    for instruction in program(plan.pattern_of_rows):
        rows.append((*instruction, splits))
        splits += instruction.code == SPLIT
    return np.array(rows, np.int64)


def _program(plan: MatchRecognize, splits: int, *, reads_run: bool) -> Program:
    within = kernels.NO_LIMIT if plan.within_us is None else plan.within_us + 1
    skip: Skip = plan.skip
    last = 1 << (len(plan.variables) - 1)
    return Program(
        last if plan.from_start else beginnings(plan.pattern_of_rows),
        within,
        _SKIPS[skip.to],
        skip.variables,
        0 if reads_run else -(-splits // 64),
        _MOST_STEPS if reads_run else kernels.NO_LIMIT,
    )


def _value(value: OfMatch) -> Value:
    if isinstance(value, MatchedAggregate):
        argument = value.aggregate.value
        evaluate = None if argument is None else compile_expr(argument)
        make = partial(_new, value)
        return AggregateValue(value.variables, value.final, evaluate, make, str(value))
    from_end = value.end == "last"
    return RowValue(
        value.variables, from_end, value.offset, value.final, compile_expr(value.argument)
    )


def _new(value: MatchedAggregate) -> runtime.Aggregate:
    aggregate, argument = value.aggregate, value.aggregate.value
    type_ = None if argument is None else argument.type
    wanted = runtime.Wanted(type_, aggregate.type, aggregate.distinct, aggregate.parameters)
    return runtime.make_aggregate(aggregate.function, wanted)


def _kept(plan: MatchRecognize) -> tuple[int, ...]:
    """The columns of extended rows that the output reads."""
    read = {c.index for c in plan.partition}
    if plan.all_rows:
        read |= set(range(len(plan.input.schema)))
    for value in plan.values:
        if isinstance(value, Navigation):
            read |= columns_of(value.argument)
        elif value.aggregate.value is not None:
            read |= columns_of(value.aggregate.value)
    return tuple(sorted(read - {plan.classifier}))
