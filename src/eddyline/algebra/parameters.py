"""Parameters of plans, and their replacement by the values of a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from eddyline.algebra import functions
from eddyline.algebra.expressions import Aggregate, Call, Expr, Literal, Parameter
from eddyline.algebra.per_node import per_node
from eddyline.algebra.plan import Plan
from eddyline.algebra.windows import Range


def has_parameters(node: Any) -> bool:
    """Whether a plan, an expression, a window, or a tuple of them contains a parameter."""
    if isinstance(node, Parameter):
        return True
    if isinstance(node, Literal):
        return False
    if isinstance(node, Range):
        return node.row_length is not None
    if isinstance(node, Plan):
        return _plan_has(node)
    if isinstance(node, (Expr, Aggregate)):
        return _any_part_has(node)
    return isinstance(node, tuple) and any(map(has_parameters, node))


def _any_part_has(node: Any) -> bool:
    return any(has_parameters(getattr(node, field.name)) for field in fields(node))


_plan_has = per_node(_any_part_has)


T = TypeVar("T")


def substitute(plan: T, values: Sequence[Any]) -> T:
    """The plan or expression for one row: every Parameter is replaced by a Literal.

    Conversions of the values are carried out, so that predicates equal those of a query with the
    constants in its text. Parts without a Parameter stay the same objects.

    Args:
        plan: a plan, an expression, or a tuple of them.
        values: of all columns of the row, as Python values that ``pa.scalar(value, type)`` accepts;
            None is NULL.

    >>> import pyarrow as pa
    >>> from eddyline.algebra.plan import Filter, StreamScan
    >>> from eddyline.algebra.windows import Range
    >>> keep = Filter(StreamScan("s", Range(1), ()), Parameter(pa.bool_(), 0, "rules.active"))
    >>> keep.label, substitute(keep, [True]).label
    ('$rules.active', 'True')
    """
    replaced: T = _substituted(plan, values)
    return replaced


def _substituted(node: Any, values: Sequence[Any]) -> Any:
    """A plan, expression or aggregate, or a tuple of them; other values are returned unchanged."""
    if isinstance(node, Parameter):
        return functions.literal(values[node.index], node.type)
    if isinstance(node, tuple):
        items = tuple(_substituted(i, values) for i in node)
        return items if any(a is not b for a, b in zip(items, node, strict=True)) else node
    if not isinstance(node, (Plan, Expr, Aggregate)):
        return node
    parts = {f.name: getattr(node, f.name) for f in fields(node)}
    changed = {
        name: new for name, old in parts.items() if (new := _substituted(old, values)) is not old
    }
    if not changed:
        return node
    if isinstance(node, Call):
        return _folded(node, changed["arguments"])
    return replace(node, **changed)


def _folded(call: Call, arguments: tuple[Expr, ...]) -> Expr:
    """The call with other arguments, folded as the binder folds constants."""
    (first, *_) = arguments
    if call.function == "cast" and isinstance(first, Literal):  # else it fails row by row
        return functions.converted_constant(first, call.type) or replace(call, arguments=arguments)
    if call.function == "try_cast":
        return functions.try_cast(first, call.type)
    if call.function == "negative":
        return functions.resolve("negative", arguments)
    return replace(call, arguments=arguments)
