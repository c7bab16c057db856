"""Parameters of plans, for tests of queries FOR EACH ROW OF a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from eddyline.algebra.expressions import Aggregate, Expr, Parameter
from eddyline.algebra.plan import Plan


def parameters_of(plan: Plan) -> tuple[Parameter, ...]:
    """The distinct parameters of a plan, in the order of their ordinals."""
    return tuple(sorted(set(_found(plan)), key=lambda p: p.index))


def _found(node: Any) -> Iterator[Parameter]:
    if isinstance(node, Parameter):
        yield node
    elif isinstance(node, tuple):
        for item in node:
            yield from _found(item)
    elif isinstance(node, (Plan, Expr, Aggregate)):
        for field in fields(node):
            yield from _found(getattr(node, field.name))
