"""Random sets of queries that are alike: same streams and joins, other constants and windows.

A *shape* is what such queries have in common; two shapes differ in any of it. Beside them stand
some that read the same but group, count or report in another way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from eddyline.testing.strategies.comparisons import condition
from eddyline.testing.strategies.sets import select_list
from eddyline.testing.strategies.sources import where

#: The longest of these is what ``keeper`` keeps.
_RANGES: Final = (
    *("RANGE 5 SECONDS", "RANGE 2 SECONDS", "RANGE 10 SECONDS", "RANGE 3 SECONDS", "NOW"),
    *("RANGE 1 SECOND", "RANGE 4500 MILLISECONDS", "RANGE 2000001 MICROSECONDS"),
    *("RANGE 5 SECONDS", "RANGE 8 SECONDS"),
)
_OTHERS: Final = (
    *("UNBOUNDED", "ROWS 2", "ROWS 4", "PARTITION BY k ROWS 1", "PARTITION BY k, s ROWS 2"),
)
_KEYS: Final = (*[["k"]] * 6, ["s"], ["s"], ["k", "s"], ["d"], ["v", "k"])
_ITEMS: Final = (
    *("{0}.v", "{0}.k", "{0}.s", "{0}.d", "{0}.ts", "{0}.f", "{0}.at"),
    *("{0}.v + 1", "UPPER({0}.s)", "{0}.v * {0}.k", "COALESCE({0}.d, 0.5D)"),
)
_EMITS: Final = (*[""] * 12, " EMIT CHANGES", " EMIT SNAPSHOT EVERY 2 SECONDS")


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

    @property
    def joined_by_keys(self) -> bool:
        """Whether no stream is joined with the others as a product."""
        return all(any(alias in pair[1] for pair in self.keys) for alias in self.aliases[1:])


def random_shape(luck: Random, names: Sequence[str], sources: int | None = None) -> Shape:
    """One of the streams; or a join of two or three (perhaps of a stream with itself) in a chain, a
    star or a ring, rarely without a key.
    """
    count = sources or luck.choice([1, 1, 2, 2, 2, 3])
    keys = []
    for i in range(1, count):
        to = luck.randrange(i)
        if count > 2 or luck.random() < 0.9:
            keys += [(f"r{to}.{name}", f"r{i}.{name}") for name in luck.choice(_KEYS)]
    if count == 3 and luck.random() < 0.3:
        keys.append(("r0.k", "r2.k"))
    aliases = [f"r{i}" for i in range(count)]
    lists = [
        tuple(luck.choice(_ITEMS).format(luck.choice(aliases)) for _ in range(luck.randint(1, 3)))
        for _ in range(luck.randint(1, 2))
    ]
    streams = tuple(luck.choices(names, k=count))
    return Shape(streams, tuple(dict.fromkeys(keys)), tuple(lists))


def random_query(luck: Random, of: Sequence[Shape], *, totals: bool = True) -> str:
    """The text of a query that has one of these shapes; ``totals``: or counts all of its rows."""
    shape = luck.choice(of)
    windows = [luck.choice(_OTHERS if luck.random() < 0.05 else _RANGES) for _ in shape.streams]
    count = luck.choice([1, 1, 0, 1, 2, 3])
    source = _from(luck, shape, windows, [condition(luck, shape.aliases) for _ in range(count)])
    items = luck.choice(shape.lists)
    kinds = [*["flat"] * 14, "group", *["distinct"] * shape.joined_by_keys, *["total"] * totals]
    kind = luck.choice(kinds)
    if kind == "group":
        key = luck.choice(["r0.k", "r0.s"])
        text = f"SELECT {key} AS c0, COUNT(*) AS c1, MAX(r0.v) AS c2 FROM {source} GROUP BY {key}"
    elif kind == "total":
        text = f"SELECT COUNT(*) AS c0, SUM(r0.v) AS c1 FROM {source}"
    else:
        text = f"SELECT {'DISTINCT ' * (kind == 'distinct')}{select_list(items)} FROM {source}"
    return text + luck.choice(_EMITS)


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
        tests += [f"{a} = {b}" for a, b in shape.keys]
        source = _by_comma(_items(shape, windows), tests)
        found.append(f"SELECT {select_list(shape.lists[0])} FROM {source}")
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


def _from(luck: Random, shape: Shape, windows: Sequence[str], found: Sequence[str]) -> str:
    """FROM and WHERE in one of the ways in which they can be written."""
    keys = [" = ".join(luck.sample(pair, 2)) for pair in shape.keys]
    items = _items(shape, windows)
    if len(items) == 1 or luck.random() < 0.5:
        conditions = [*keys, *found]
        return _by_comma(luck.sample(items, len(items)), luck.sample(conditions, len(conditions)))
    source = items[0]
    for i, item in enumerate(items[1:], 1):
        on = [k for k, (_, b) in zip(keys, shape.keys, strict=True) if b.startswith(f"r{i}.")]
        source += f" JOIN {item} ON {' AND '.join(on)}" if on else f" CROSS JOIN {item}"
    return f"{source}{where(found)}"


def _by_comma(items: Sequence[str], conditions: Sequence[str]) -> str:
    return f"{', '.join(items)}{where(conditions)}"


def _items(shape: Shape, windows: Sequence[str]) -> list[str]:
    together = zip(shape.streams, windows, shape.aliases, strict=True)
    return [f"{stream} [{window}] AS {alias}" for stream, window, alias in together]
