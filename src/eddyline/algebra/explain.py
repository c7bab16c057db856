"""Plans as text, with the update pattern of every edge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eddyline.algebra.plan import Plan

#: Patterns stand in one column, but not farther right than this.
_PATTERN_COLUMN: Final = 96


def explain(plan: Plan) -> str:
    """The plan, one node a line, inputs indented below what reads them.

    Right of each node stands the update pattern of its output::

        Project  t.symbol, q.bid                  WK
          Join  t.symbol = q.symbol               WK
            StreamScan  trades [RANGE 5 MINUTES]  WKS
            StreamScan  quotes [RANGE 1 MINUTE]   WKS
    """
    lines = list(_lines(plan, 0))
    width = max((len(text) for text, _ in lines if len(text) <= _PATTERN_COLUMN), default=0)
    return "\n".join(f"{text:<{width}}  {pattern}" for text, pattern in lines)


def _lines(plan: Plan, depth: int) -> Iterator[tuple[str, str]]:
    name = "  " * depth + type(plan).__name__
    yield (f"{name}  {plan.label}" if plan.label else name), str(plan.pattern)
    for below in plan.inputs:
        yield from _lines(below, depth + 1)
