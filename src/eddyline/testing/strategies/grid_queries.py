"""Random queries whose rows lie in a grid of cells: joins of several keys, or without equal keys.

Chains, stars and rings of keys have an axis for each class of equal columns (HyperCube shares); a
join by comparisons has an axis for the rows of each stream. No stream is joined with itself, and no
condition fails for any row: both would leave one cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hypothesis import strategies as st

from eddyline.testing.strategies.queries import EMITS, flat_over, grouped_over
from eddyline.testing.strategies.sets import GeneratedSelect
from eddyline.testing.strategies.sources import From, contents, window

_WINDOWS: Final = (
    *(f"[RANGE {n} SECONDS]" for n in (5, 10, 3, 2, 10)),
    *("[RANGE 2000001 MICROSECONDS]", "[NOW]", "[UNBOUNDED]", "[ROWS 2]", "[ROWS 4]"),
)
#: Pairs of streams joined by keys, each pair with its column, by shape.
_KEYS: Final = {
    "chain": ((0, 1, "k"), (1, 2, "s")),
    "long chain": ((0, 1, "k"), (1, 2, "s"), (2, 3, "v")),
    "star": ((0, 1, "k"), (0, 2, "s")),
    "wide star": ((0, 1, "k"), (0, 2, "s"), (0, 3, "v")),
    "ring": ((0, 1, "k"), (1, 2, "s"), (2, 0, "v")),
    "comparison": (),
    "two comparisons": (),
    "key and comparison": ((0, 1, "k"),),
}
_STREAMS: Final = {
    "long chain": 4,
    "wide star": 4,
    "comparison": 2,
}
_COMPARED: Final = (
    *("{}.v < {}.v", "{}.v <> {}.v", "{}.d >= {}.d", "{}.s < {}.s", "{}.ts <= {}.ts"),
    *("{0}.v + {1}.v > 3", "COALESCE({0}.v, {1}.v) > 1", "({0}.v > 1 OR {1}.k = 1)"),
)
_FILTERS: Final = ("{}.v > 0", "{}.s <> 'x'", "{}.k IN (1, 2)", "{}.d IS NOT NULL")


@st.composite
def grid_queries(draw: st.DrawFn) -> str:
    """The text of such a query, with or without an EMIT clause."""
    source = draw(_joined(draw(st.sampled_from(sorted(_KEYS)))))
    shape = draw(st.sampled_from(["flat", "flat", "grouped"]))
    select: GeneratedSelect = draw(flat_over(source) if shape == "flat" else grouped_over(source))
    return f"{select.sql} {draw(EMITS)}".strip()


@st.composite
def _joined(draw: st.DrawFn, shape: str) -> From:
    """Different streams with their windows, joined in one of the shapes; in some cases with a
    table, which has a key of its own.
    """
    streams = draw(st.permutations("abcd"))[: _STREAMS.get(shape, 3)]
    items = [draw(window(f"r{i}", _WINDOWS, name)) for i, name in enumerate(streams)]
    conditions = [f"r{i}.{column} = r{j}.{column}" for i, j, column in _KEYS[shape]]
    conditions += draw(_comparisons(shape, len(items)))
    if draw(st.integers(0, 3)) == 3:
        conditions.append(draw(st.sampled_from(_FILTERS)).format("r0"))
    if len(items) < 4 and (table := draw(st.sampled_from(["", "", "", "dim", "live"]))):
        items.append(contents(table, "t"))
        conditions.append(draw(st.sampled_from(["r1.k = t.k", "r1.s = t.s", "r0.v = t.w"])))
    scope = tuple(column for item in items for column in item.scope)
    return From(", ".join(item.sql for item in items), tuple(conditions), scope)


@st.composite
def _comparisons(draw: st.DrawFn, shape: str, count: int) -> Sequence[str]:
    """The conditions that join the streams without a key."""
    pairs = {
        "comparison": [(0, 1)],
        "two comparisons": [(0, 1), (1, 2)],
        "key and comparison": [(1, 2)],
    }.get(shape, [])
    assert all(j < count for _, j in pairs)
    forms = st.sampled_from(_COMPARED)
    return [draw(forms).format(f"r{i}", f"r{j}") for i, j in pairs]
