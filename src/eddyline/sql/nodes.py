"""The nodes of a syntax tree."""

from __future__ import annotations

from sqlglot import exp


def own_nodes(node: exp.Expr) -> list[exp.Expr]:
    """A node and all nodes below it but those of sub-queries, of which only the top is included;
    parents first. Faster than ``walk`` of sqlglot.
    """
    found, waiting = [], [node]
    while waiting:
        at = waiting.pop()
        found.append(at)
        if isinstance(at, exp.Query) and at is not node:
            continue
        for value in reversed(at.args.values()):
            if isinstance(value, exp.Expr):
                waiting.append(value)
            elif isinstance(value, list):
                waiting.extend(v for v in reversed(value) if isinstance(v, exp.Expr))
    return found
