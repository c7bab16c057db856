"""Random sets of queries that are alike: same streams and joins, other constants and windows.

A *shape* is what such queries have in common; two shapes differ in any of it. Beside them stand
some that read the same but group, count or report in another way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st

from eddyline.testing.strategies.comparisons import conditions
from eddyline.testing.strategies.sets import select_list
from eddyline.testing.strategies.sources import where

#: The longest of these is what ``keeper`` keeps.
_RANGES: Final = (
    *("RANGE 5 SECONDS", "RANGE 2 SECONDS", "RANGE 10 SECONDS", "RANGE 3 SECONDS", "NOW"),
    *("RANGE 1 SECOND", "RANGE 1500 MILLISECONDS", "RANGE 2000001 MICROSECONDS"),
)
_OTHER_WINDOWS: Final = (
    *("UNBOUNDED", "ROWS 2", "ROWS 4", "PARTITION BY k ROWS 1", "PARTITION BY k, s ROWS 2"),
)
_KEYS: Final = (["k"], ["k"], ["k"], ["s"], ["k", "s"], ["d"], ["v", "k"])
_ITEMS: Final = (
    *("{0}.v", "{0}.k", "{0}.s", "{0}.d", "{0}.ts", "{0}.f", "{0}.at"),
    *("{0}.v + 1", "UPPER({0}.s)", "{0}.v * {0}.k", "COALESCE({0}.d, 0.5D)"),
)
_EMITS: Final = (*[""] * 6, " EMIT CHANGES", " EMIT SNAPSHOT EVERY 2 SECONDS")


@dataclass(frozen=True)
class Shape:
    """What queries of a kind have in common.

    Attributes:
        streams: the stream of each item of FROM, which are called r0, r1, ...
        keys: pairs of columns that are equal in every result.
        lists: select lists to choose from.
    """

    streams: tuple[str, ...]
    keys: tuple[tuple[str, str], ...]
    lists: tuple[tuple[str, ...], ...]

    @property
    def aliases(self) -> list[str]:
        """The names of the items of FROM."""
        return [f"r{i}" for i in range(len(self.streams))]


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """One stream; or a join of two or three (perhaps of a stream with itself) in a chain, a star or
    a ring, rarely without a key.
    """
    count = draw(st.sampled_from([1, 1, 2, 2, 2, 3]))
    streams = tuple(draw(st.sampled_from("aabc")) for _ in range(count))
    keys: list[tuple[str, str]] = []
    for i in range(1, count):
        to = draw(st.integers(0, i - 1))
        names = draw(st.sampled_from(_KEYS))
        if count > 2 or draw(st.integers(0, 9)) < 9:
            keys += [(f"r{to}.{name}", f"r{i}.{name}") for name in names]
    if count == 3 and draw(st.booleans()):
        keys.append(("r0.k", "r2.k"))
    items = st.builds(str.format, st.sampled_from(_ITEMS), st.sampled_from(_aliases(count)))
    lists = draw(st.lists(st.lists(items, min_size=1, max_size=3), min_size=1, max_size=2))
    return Shape(streams, tuple(dict.fromkeys(keys)), tuple(map(tuple, lists)))


@st.composite
def members(draw: st.DrawFn, of: Sequence[Shape], *, totals: bool = True) -> str:
    """The text of a query that has one of these shapes; ``totals``: or counts all of its rows."""
    shape = draw(st.sampled_from(of))
    windows = [draw(_windows()) for _ in shape.streams]
    found = draw(st.lists(conditions(shape.aliases), max_size=3))
    sql = draw(_from(shape, windows, found))
    items = draw(st.sampled_from(shape.lists))
    kind = draw(st.sampled_from([*["flat"] * 7, "distinct", "group", *["total"] * totals]))
    if kind == "group":
        key = draw(st.sampled_from(["r0.k", "r0.s"]))
        text = f"SELECT {key} AS c0, COUNT(*) AS c1, MAX(r0.v) AS c2 FROM {sql} GROUP BY {key}"
    elif kind == "total":
        text = f"SELECT COUNT(*) AS c0, SUM(r0.v) AS c1 FROM {sql}"
    else:
        text = f"SELECT {'DISTINCT ' * (kind == 'distinct')}{select_list(items)} FROM {sql}"
    return text + draw(st.sampled_from(_EMITS))


def crowd(shape: Shape, count: int) -> list[str]:
    """Many queries of one shape, each with constants and windows of its own, without any luck."""
    found = []
    for i in range(count):
        windows = [_RANGES[(i + j) % len(_RANGES)] for j in range(len(shape.streams))]
        last = shape.aliases[-1]
        test = ("r0.v = {}", "r0.v > {}", f"{last}.k <= {{}}", "NOT r0.v < {}")[i % 4]
        tests = [test.format(i % 7 - 2)]
        if i % 3 == 0:
            tests.append(f"({last}.s = 'x' OR {last}.d > {i % 5}.5D)")
        items = select_list(shape.lists[0])
        found.append(f"SELECT {items} FROM {_by_comma(shape, windows, tests)}")
    return found


def keeper(stream: str, *, everything: bool) -> str:
    """A query for which the rows of a stream are kept: as long as any RANGE window of a random
    query needs them, or for ever.
    """
    if everything:
        return (
            f"SELECT x.v AS c0 FROM {stream} [UNBOUNDED] AS x, {stream} [NOW] AS y"
            " WHERE x.k = y.k AND y.v > 2"
        )
    return f"SELECT v FROM {stream} [RANGE 10 SECONDS]"


@st.composite
def _windows(draw: st.DrawFn) -> str:
    return draw(st.sampled_from(_OTHER_WINDOWS if draw(st.integers(0, 11)) == 11 else _RANGES))


@st.composite
def _from(draw: st.DrawFn, shape: Shape, windows: Sequence[str], found: Sequence[str]) -> str:
    """FROM and WHERE in any of the ways in which they can be written."""
    turned = [(b, a) if draw(st.booleans()) else (a, b) for a, b in shape.keys]
    keys = [f"{a} = {b}" for a, b in turned]
    if len(shape.streams) == 1 or draw(st.booleans()):
        order = draw(st.permutations(range(len(shape.streams))))
        return _by_comma(shape, windows, draw(st.permutations([*keys, *found])), order)
    items = _items(shape, windows)
    sql, rest = items[0], list(found)
    for i, item in enumerate(items[1:], 1):
        on = [k for k, (_, b) in zip(keys, shape.keys, strict=True) if b.startswith(f"r{i}.")]
        sql += f" JOIN {item} ON {' AND '.join(on)}" if on else f" CROSS JOIN {item}"
    return f"{sql}{where(rest)}"


def _by_comma(
    shape: Shape,
    windows: Sequence[str],
    found: Sequence[str],
    order: Sequence[int] | None = None,
) -> str:
    items = _items(shape, windows)
    keys = [] if order is not None else [f"{a} = {b}" for a, b in shape.keys]
    listed = items if order is None else [items[i] for i in order]
    return f"{', '.join(listed)}{where([*keys, *found])}"


def _items(shape: Shape, windows: Sequence[str]) -> list[str]:
    together = zip(shape.streams, windows, shape.aliases, strict=True)
    return [f"{stream} [{window}] AS {alias}" for stream, window, alias in together]


def _aliases(count: int) -> list[str]:
    return [f"r{i}" for i in range(count)]
