"""Plans as text, with the update pattern of every edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from eddyline.algebra.plan import Plan

#: Maximum start of the column of patterns.
_PATTERN_COLUMN: Final = 96
NO_COLUMNS: Final[Mapping[str, Sequence[str]]] = MappingProxyType({})


def explain(plan: Plan, columns: Mapping[str, Sequence[str]] = NO_COLUMNS) -> str:
    """The plan, one node a line, inputs indented below what reads them.

    The update pattern of its output follows each node::

        Project  t.symbol, q.bid                  WK
          Join  t.symbol = q.symbol               WK
            StreamScan  trades [RANGE 5 MINUTES]  WKS
            StreamScan  quotes [RANGE 1 MINUTE]   WKS

    A sub-plan that occurs again, and runs once, is shown by its first line, with the number of that
    with the whole.

    Args:
        columns: further columns by heading, with a text for each node in this order.
    """
    lines: list[tuple[str, str]] = []
    _add_lines(plan, 0, lines, {})
    width = max((len(text) for text, _ in lines if len(text) <= _PATTERN_COLUMN), default=0)
    texts = [f"{text:<{width}}  {pattern}" for text, pattern in lines]
    if not columns:
        return "\n".join(texts)
    texts = ["", *texts]
    for head, cells in columns.items():
        start = max(map(len, texts)) + 2
        cell_width = max(map(len, (head, *cells)))
        texts = [
            f"{text:<{start}}{cell:>{cell_width}}"
            for text, cell in zip(texts, (head, *cells), strict=True)
        ]
    return "\n".join(texts)


def _add_lines(
    plan: Plan, depth: int, lines: list[tuple[str, str]], shown: dict[Plan, int]
) -> None:
    text = "  " * depth + type(plan).__name__ + (f"  {plan.label}" if plan.label else "")
    before = shown.setdefault(plan, len(lines) + 1) if plan.inputs else len(lines) + 1
    again = before <= len(lines)
    lines.append((f"{text} (as in line {before})" if again else text, str(plan.pattern)))
    for below in () if again else plan.inputs:
        _add_lines(below, depth + 1, lines, shown)
