"""Join regions: joins, filters and projections of a plan as one join of several inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate

from eddyline.algebra.expressions import (
    Call,
    ColumnRef,
    Expr,
    Literal,
    Parameter,
    columns_of,
    conjuncts,
    shift_columns,
    walk,
)
from eddyline.algebra.plan import Filter, Join, Plan, Product, Project
from eddyline.optimizer.traversal import substituted


@dataclass(frozen=True)
class Region:
    """A tree of joins, filters and projections; expressions are over the columns of all inputs.

    All equalities hold for every row of the result, whatever the order of the joins.

    Attributes:
        inputs: the plans that are joined.
        equalities: pairs of equal expressions.
        computed: expressions that are evaluated, each with the inputs of which rows it reads; the
            outputs are evaluated for rows of the result.
        outputs: the columns of the result.
    """

    inputs: tuple[Plan, ...]
    equalities: tuple[tuple[Expr, Expr], ...]
    computed: tuple[tuple[Expr, frozenset[int]], ...]
    outputs: tuple[Expr, ...]

    @property
    def starts(self) -> list[int]:
        """The first column of each input, and the number of columns."""
        return list(accumulate((len(p.schema) for p in self.inputs), initial=0))

    def reads(self, expr: Expr) -> frozenset[int]:
        """The inputs that an expression reads."""
        starts = self.starts
        return frozenset(
            next(i for i in range(len(self.inputs)) if column < starts[i + 1])
            for column in columns_of(expr)
        )


def is_inside(plan: Plan) -> bool:
    """Whether a node is part of a region."""
    return isinstance(plan, (Filter, Project, Join, Product))


def region(plan: Plan) -> Region:
    """The region of which a plan is the result; a single input for other nodes."""
    if isinstance(plan, Project):
        below = region(plan.input)
        everything = frozenset(range(len(below.inputs)))
        outputs = tuple(substituted(e, below.outputs) for e in plan.exprs)
        evaluated = tuple((e, everything) for e in outputs)
        return Region(below.inputs, below.equalities, below.computed + evaluated, outputs)
    if isinstance(plan, Filter):
        below = region(plan.input)
        return _with_terms(below, [substituted(t, below.outputs) for t in _terms(plan.predicate)])
    if isinstance(plan, Product):
        return reduce(_beside, map(region, plan.parts))
    if isinstance(plan, Join):
        left, right = map(region, plan.inputs)
        both = _beside(left, right)
        width = len(left.outputs)
        keys = [
            (substituted(a, both.outputs), substituted(b, both.outputs[width:]))
            for a, b in plan.keys
        ]
        sides = tuple((e, both.reads(e)) for pair in keys for e in pair)
        terms = [substituted(t, both.outputs) for t in _terms(plan.residual)]
        keyed = Region(
            both.inputs, both.equalities + tuple(keys), both.computed + sides, both.outputs
        )
        return _with_terms(keyed, terms)
    columns = tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema))
    return Region((plan,), (), (), columns)


def equal_pairs(terms: Sequence[Expr]) -> Iterator[tuple[Expr, Expr]]:
    """The two sides of each term that is an equality of columns, not with a constant alone."""
    for term in terms:
        if isinstance(term, Call) and term.function == "=":
            a, b = term.arguments
            if all(any(isinstance(e, (ColumnRef, Parameter)) for e in walk(s)) for s in (a, b)):
                yield a, b


def _terms(predicate: Expr | None) -> tuple[Expr, ...]:
    return tuple(t for t in conjuncts(predicate) if not isinstance(t, Literal))


def _with_terms(below: Region, terms: Sequence[Expr]) -> Region:
    pairs = tuple(equal_pairs(terms))
    evaluated = tuple((t, below.reads(t)) for t in terms)
    return Region(below.inputs, below.equalities + pairs, below.computed + evaluated, below.outputs)


def _beside(left: Region, right: Region) -> Region:
    width, count = left.starts[-1], len(left.inputs)

    def moved(expr: Expr) -> Expr:
        return shift_columns(expr, width)

    return Region(
        left.inputs + right.inputs,
        left.equalities + tuple((moved(a), moved(b)) for a, b in right.equalities),
        left.computed
        + tuple((moved(e), frozenset(i + count for i in read)) for e, read in right.computed),
        left.outputs + tuple(map(moved, right.outputs)),
    )
