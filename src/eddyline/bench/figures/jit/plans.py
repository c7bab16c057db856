"""Clique joins, and the plans of Table II as SQL: trees of joins are nested sub-selects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

PlanName = Literal["bushy", "left-deep"]
#: The number of a source, or two trees that are joined.
Tree: TypeAlias = "int | tuple[Tree, Tree]"


def _left_deep(sources: int) -> Tree:
    tree: Tree = 0
    for source in range(1, sources):
        tree = (tree, source)
    return tree


#: By plan and number of sources (Table II).
PLANS: Final[Mapping[PlanName, Mapping[int, Tree]]] = {
    "bushy": {
        4: ((0, 1), (2, 3)),
        5: (((0, 1), (2, 3)), 4),
        6: (((0, 1), (2, 3)), (4, 5)),
        7: (((0, 1), (2, 3)), ((4, 5), 6)),
        8: (((0, 1), (2, 3)), ((4, 5), (6, 7))),
    },
    "left-deep": {n: _left_deep(n) for n in (3, 4, 5, 6)},
}


def source_name(source: int) -> str:
    """``a``, ``b``, ... by number."""
    return "abcdefgh"[source]


def columns(source: int, sources: int) -> list[str]:
    """The columns of a source: one for each of the others, with which it shares the name."""
    return [_column(source, other) for other in range(sources) if other != source]


def script(sources: int) -> str:
    """The statements that declare the sources."""
    return ";".join(
        f"CREATE STREAM {source_name(s)} (ts TIMESTAMP, "
        + ", ".join(f"{c} BIGINT" for c in columns(s, sources))
        + ") TIMESTAMP BY ts"
        for s in range(sources)
    )


def clique_join(tree: Tree, window_s: int) -> str:
    """The query: every pair of sources has a column to be equal on, and all are selected.

    Args:
        tree: two trees at least. window_s: of every source, in seconds.
    """
    return _select(tree, len(_leaves(tree)), window_s)


def flat_join(sources: int, window_s: int) -> str:
    """The query as one SELECT, whose joins the optimizer orders; its columns are the same."""
    numbers = range(sources)
    shown = ", ".join(
        f"{source_name(s)}.{c} AS {source_name(s)}_{c}"
        for s in numbers
        for c in columns(s, sources)
    )
    streams = ", ".join(f"{source_name(s)} [RANGE {window_s} SECONDS]" for s in numbers)
    equal = " AND ".join(
        f"{source_name(s)}.{_column(s, t)} = {source_name(t)}.{_column(s, t)}"
        for s in numbers
        for t in range(s + 1, sources)
    )
    return f"SELECT {shown} FROM {streams} WHERE {equal}"


def _select(tree: Tree, sources: int, window_s: int) -> str:
    assert not isinstance(tree, int), "a source is no join"
    inputs, names = [], []
    for place, side in enumerate(tree):
        if isinstance(side, int):
            inputs.append(f"{source_name(side)} [RANGE {window_s} SECONDS]")
            own = source_name(side)
            names.append({f"{own}_{c}": f"{own}.{c}" for c in columns(side, sources)})
        else:
            inputs.append(f"({_select(side, sources, window_s)}) AS q{place}")
            names.append({name: f"q{place}.{name}" for name in _outputs(side, sources)})
    left, right = names
    equal = [
        f"{left[_output(s, t)]} = {right[_output(t, s)]}"
        for s in _leaves(tree[0])
        for t in _leaves(tree[1])
    ]
    selected = ", ".join(f"{own} AS {name}" for name, own in (left | right).items())
    return f"SELECT {selected} FROM {', '.join(inputs)} WHERE {' AND '.join(equal)}"


def _leaves(tree: Tree) -> list[int]:
    return [tree] if isinstance(tree, int) else _leaves(tree[0]) + _leaves(tree[1])


def _outputs(tree: Tree, sources: int) -> list[str]:
    return [_output(s, t) for s in _leaves(tree) for t in range(sources) if t != s]


def _output(source: int, other: int) -> str:
    return f"{source_name(source)}_{_column(source, other)}"


def _column(source: int, other: int) -> str:
    return f"x_{source_name(min(source, other))}{source_name(max(source, other))}"
