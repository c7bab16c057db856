"""Random sets of similar queries: same streams and joins, other constants and windows.

A *shape* is the common part of such queries, including their groupings. Other queries of a set read
the same streams but aggregate or report differently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from eddyline.testing.strategies.comparisons import condition
from eddyline.testing.strategies.sets import select_list
from eddyline.testing.strategies.sources import where

#: ``keeper`` keeps the longest of these.
_RANGES: Final = (
    *("RANGE 5 SECONDS", "RANGE 2 SECONDS", "RANGE 10 SECONDS", "RANGE 3 SECONDS", "NOW"),
    *("RANGE 1 SECOND", "RANGE 4500 MILLISECONDS", "RANGE 2000001 MICROSECONDS"),
    *("RANGE 5 SECONDS", "RANGE 8 SECONDS"),
)
#: Window lengths that may differ between queries that share a join.
_ROWS: Final = ("ROWS 3", "ROWS 5", "ROWS 1", "ROWS 9", "ROWS 2")
_OTHERS: Final = (
    *("UNBOUNDED", "ROWS 2", "ROWS 4", "PARTITION BY k ROWS 1", "PARTITION BY k, s ROWS 2"),
)
_KEYS: Final = (*[["k"]] * 6, ["s"], ["s"], ["k", "s"], ["d"], ["v", "k"])
_ITEMS: Final = (
    *("{0}.v", "{0}.k", "{0}.s", "{0}.d", "{0}.ts", "{0}.f", "{0}.at"),
    *("{0}.v + 1", "UPPER({0}.s)", "{0}.v * {0}.k", "COALESCE({0}.d, 0.5D)"),
)
_GROUP_KEYS: Final = (
    *[["r0.k"]] * 3,
    ["r0.s"],
    ["r0.k", "r0.s"],
    ["r0.v % 2"],
    ["{0}.k"],
    ["r0.d"],
)
_AGGREGATES: Final = (
    *("COUNT(*)", "COUNT(*)", "SUM({0}.v)", "MAX({0}.v)", "MIN({0}.s)", "AVG({0}.v)"),
    *("COUNT(DISTINCT {0}.s)", "COUNT({0}.d)", "MAX({0}.at)", "SUM({0}.v + 1)"),
    *("COUNT(*) FILTER (WHERE {0}.v > 1)", "STDDEV({0}.v)"),
    "COUNT(DISTINCT {0}.v) FILTER (WHERE {0}.k > 1)",
    *("MEDIAN({0}.v)", "SUM(DISTINCT {0}.v)", "VAR_POP({0}.v)"),
)
#: Of all rows.
_TOTALS: Final = ("SUM(r0.v)", "SUM(r0.v)", "COUNT(DISTINCT r0.s)", "STDDEV(r0.v)")
_HAVING: Final = (*[""] * 4, "COUNT(*) > 1", "MAX(r0.v) > 1", "SUM(r0.v) < 5", "COUNT(r0.s) <> 2")
#: Tables that rows look up.
_TABLES: Final = (*[None] * 5, "names", "rates")
_EMITS: Final = (*[""] * 12, " EMIT CHANGES", " EMIT SNAPSHOT EVERY 2 SECONDS")


@dataclass(frozen=True)
class QueryShape:
    """The common part of similar queries.

    Attributes:
        streams: the stream of each item of FROM; these are named r0, r1, ...
        table: a table that is joined as ``t``, or None.
        keys: pairs of columns that are equal in every result.
        lists: the possible select lists.
        groupings: the possible select lists with GROUP BY and HAVING.
    """

    streams: tuple[str, ...]
    table: str | None
    keys: tuple[tuple[str, str], ...]
    lists: tuple[tuple[str, ...], ...]
    groupings: tuple[tuple[str, str], ...]

    @property
    def aliases(self) -> list[str]:
        """The names of the items of FROM."""
        return [*(f"r{i}" for i in range(len(self.streams))), *(["t"] if self.table else [])]

    @property
    def joined_by_keys(self) -> bool:
        """Whether no stream is joined with the others as a product."""
        return all(any(alias in pair[1] for pair in self.keys) for alias in self.aliases[1:])


def random_shape(
    random: Random, names: Sequence[str], sources: int | None = None, *, tables: bool = True
) -> QueryShape:
    """One stream; or a join of two or three (also self-joins) in a chain, a star or a ring, rarely
    without a key; in some cases with a table.
    """
    count = sources or random.choice([1, 1, 2, 2, 2, 3])
    keys = []
    for i in range(1, count):
        to = random.randrange(i)
        if count > 2 or random.random() < 0.9:
            keys += [(f"r{to}.{name}", f"r{i}.{name}") for name in random.choice(_KEYS)]
    if count == 3 and random.random() < 0.3:
        keys.append(("r0.k", "r2.k"))
    table = random.choice(_TABLES) if tables else None
    aliases = [f"r{i}" for i in range(count)]
    if table is not None:
        keys.append((f"{random.choice(aliases)}.k", "t.k"))
        aliases.append("t")
    lists = [
        tuple(
            random.choice(_ITEMS).format(random.choice(aliases))
            for _ in range(random.randint(1, 3))
        )
        for _ in range(random.randint(1, 2))
    ]
    groupings = [_grouping(random, aliases) for _ in range(random.randint(1, 2))]
    streams = tuple(random.choices(names, k=count))
    return QueryShape(streams, table, tuple(dict.fromkeys(keys)), tuple(lists), tuple(groupings))


def _grouping(random: Random, aliases: Sequence[str]) -> tuple[str, str]:
    """A select list, and GROUP BY with HAVING."""
    keys = [k.format(random.choice(aliases)) for k in random.choice(_GROUP_KEYS)]
    chosen = random.choices(_AGGREGATES, k=random.randint(1, 2))
    shown = keys if random.random() < 0.9 else keys[1:]
    items = [*shown, *(a.format(random.choice(aliases)) for a in chosen)]
    having = random.choice(_HAVING)
    return select_list(items), f"GROUP BY {', '.join(keys)}{having and f' HAVING {having}'}"


def random_query(random: Random, of: Sequence[QueryShape], *, totals: bool = True) -> str:
    """The text of a query with one of these shapes; ``totals``: or of a count of all its rows."""
    shape = random.choice(of)
    others = _OTHERS if shape.table != "rates" else ("UNBOUNDED",)
    counted = shape.table != "rates" and random.random() < 0.25
    usual = _ROWS if counted else _RANGES
    windows = [random.choice(others if random.random() < 0.05 else usual) for _ in shape.streams]
    if counted and random.random() < 0.2:
        windows[random.randrange(len(windows))] = random.choice(_RANGES)
    count = random.choice([1, 1, 0, 1, 2, 3])
    source = _from(random, shape, windows, [condition(random, shape.aliases) for _ in range(count)])
    items = random.choice(shape.lists)
    kinds = [*["flat"] * 8, *["group"] * 6, *["distinct"] * 2 * shape.joined_by_keys]
    kind = random.choice([*kinds, *["total"] * totals])
    if kind == "group":
        grouped, by = random.choice(shape.groupings)
        text = f"SELECT {grouped} FROM {source} {by}"
    elif kind == "total":
        text = f"SELECT COUNT(*) AS c0, {random.choice(_TOTALS)} AS c1 FROM {source}"
    else:
        text = f"SELECT {'DISTINCT ' * (kind == 'distinct')}{select_list(items)} FROM {source}"
    return text + random.choice(_EMITS)


def many_alike(shape: QueryShape, count: int) -> list[str]:
    """Many queries of one shape with different constants and windows, not random."""
    found = []
    for i in range(count):
        lengths = _ROWS if i % 4 == 3 and shape.table != "rates" else _RANGES
        windows = [lengths[(i + j) % len(lengths)] for j in range(len(shape.streams))]
        last = shape.aliases[-1]
        test = ("r0.v = {}", "r0.v > {}", f"{last}.k <= {{}}", "NOT r0.v < {}")[i % 4]
        tests = [test.format(i % 7 - 2)]
        if i % 3 == 0:
            tests.append(f"({last}.s = 'x' OR {last}.d > {i % 5}.5D)")
        tests += [f"{a} = {b}" for a, b in shape.keys]
        source = _by_comma(_items(shape, windows), tests)
        items, by = shape.groupings[0] if i % 5 == 0 else (select_list(shape.lists[0]), "")
        found.append(f"SELECT {items} FROM {source} {by}")
    return found


def keeper(stream: str, *, everything: bool) -> str:
    """A query that keeps the rows of a stream stored: as long as any RANGE window of a random query
    needs them, or for ever.
    """
    if everything:
        return (
            f"SELECT x.v AS c0 FROM {stream} [UNBOUNDED] AS x, {stream} [NOW] AS y"
            " WHERE x.k = y.k AND y.v > 2"
        )
    return f"SELECT v FROM {stream} [RANGE 10 SECONDS]"


def _from(random: Random, shape: QueryShape, windows: Sequence[str], found: Sequence[str]) -> str:
    """FROM and WHERE in one of their equivalent forms."""
    keys = [" = ".join(random.sample(pair, 2)) for pair in shape.keys]
    items = _items(shape, windows)
    if len(items) == 1 or random.random() < 0.5:
        conditions = [*keys, *found]
        return _by_comma(
            random.sample(items, len(items)), random.sample(conditions, len(conditions))
        )
    source = items[0]
    for alias, item in zip(shape.aliases[1:], items[1:], strict=True):
        on = [k for k, (_, b) in zip(keys, shape.keys, strict=True) if b.startswith(f"{alias}.")]
        source += f" JOIN {item} ON {' AND '.join(on)}" if on else f" CROSS JOIN {item}"
    return f"{source}{where(found)}"


def _by_comma(items: Sequence[str], conditions: Sequence[str]) -> str:
    return f"{', '.join(items)}{where(conditions)}"


def _items(shape: QueryShape, windows: Sequence[str]) -> list[str]:
    together = zip(shape.streams, windows, shape.aliases, strict=False)
    items = [f"{stream} [{window}] AS {alias}" for stream, window, alias in together]
    return [*items, f"{shape.table} AS t"] if shape.table else items
