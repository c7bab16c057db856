"""Random scripts for sets of queries: rows, moves of the clock, restarts, queries that come and go.

In most cases somebody keeps the rows of all streams, so that a query is right as soon as it is
added; in the others it may have to wait until its windows are full (``eddyline.testing.held``).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from hypothesis import strategies as st

from eddyline import Engine
from eddyline.testing.script import Script
from eddyline.testing.strategies.cases import OPTIONS
from eddyline.testing.strategies.query_sets import Shape, crowd, keeper, members, shapes
from eddyline.testing.strategies.streams import KEYS, STEP_US, STRINGS, VALUES
from eddyline.testing.text import format_time, pretty
from eddyline.types import TIMESTAMP, sql_type

#: Longer than every RANGE window of a random query: after it, all rows have expired.
_AFTERMATH_US: Final = 12 * STEP_US

#: The streams; their ``k`` differ in type, so that joins convert.
STREAMS: Final[Mapping[str, pa.Schema]] = {
    name: pa.schema(
        [
            ("ts", TIMESTAMP),
            ("k", pa.int32() if name == "b" else pa.int64()),
            ("s", pa.string()),
            ("d", pa.float64()),
            ("v", pa.int64()),
            ("f", pa.bool_()),
            ("at", TIMESTAMP),
        ]
    )
    for name in "abc"
}
_DOUBLES: Final = st.sampled_from([1.0, 0.5, 2.0, 0.0, -0.0, -1.25, 1.0, None])
_WILD_DOUBLES: Final = st.one_of(_DOUBLES, st.just(math.nan))
_FLAGS: Final = st.sampled_from([True, False, True, None])
_TIMES: Final = st.sampled_from([2, 4, 1, 6, None]).map(
    lambda t: None if t is None else t * STEP_US
)

#: Enough queries for lineages of more than one word.
_CROWD: Final = 70

#: Ways to share queries, none of which may change their answers: keyword arguments of the Engine.
_SHARING: Final[dict[str, st.SearchStrategy[Any]]] = {
    "executor": st.sampled_from(["auto", "tree", "eddy"]),
    "policy": st.sampled_from(["ticket", "back-pressure", "random", "fixed"]),
    "sharing": st.booleans(),
    "optimize": st.booleans(),
}


def sharing_options() -> st.SearchStrategy[dict[str, Any]]:
    """Keyword arguments of the Engine: those of ``OPTIONS`` and how queries share."""
    known = inspect.signature(Engine).parameters
    ours = st.fixed_dictionaries({name: s for name, s in _SHARING.items() if name in known})
    return st.builds(lambda one, other: one | other, OPTIONS, ours)


@dataclass(frozen=True)
class Row:
    """A row as it arrives: its stream, and its values in the stream's order of columns."""

    stream: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Turn:
    """What happens next: rows arrive, the clock moves, a restart, or queries come and go."""

    rows: tuple[Row, ...] = ()
    advance_us: int | None = None  #: by how much, from the clock, or from zero before there is one
    restart: bool = False
    drop: tuple[str, ...] = ()
    add: tuple[tuple[str, str], ...] = ()  #: names and SELECTs

    def __str__(self) -> str:
        lines = [f"DROP QUERY {name};" for name in self.drop]
        lines += [f"CREATE QUERY {name} AS {sql};" for name, sql in self.add]
        for name, table in _tables(self.rows).items():
            lines += [f"batch of {name}:\n{pretty(table)}"] * (table.num_rows > 0)
        if self.advance_us is not None:
            lines.append(f"advance by {format_time(self.advance_us)}")
        return "\n".join([*lines, *["restart"] * self.restart])


@dataclass(frozen=True, repr=False)
class QuerySetCase:
    """Queries and all that happens to them."""

    lateness: tuple[int, ...]  #: of the streams, in steps
    turns: tuple[Turn, ...]

    @property
    def ddl(self) -> str:
        """The CREATE statements of the streams."""
        return "\n".join(
            f"CREATE STREAM {name} ({', '.join(f'{f.name} {sql_type(f.type)}' for f in schema)})"
            f" TIMESTAMP BY ts LATENESS {late} SECONDS;"
            for (name, schema), late in zip(STREAMS.items(), self.lateness, strict=True)
        )

    def __repr__(self) -> str:
        return "\n".join([f"\n{self.ddl}", *map(str, self.turns)])


def play_set(case: QuerySetCase, options: Mapping[str, Any] | None = None) -> Script:
    """Run a case until all rows have expired, with every query compared with the oracle: its
    history when it is dropped or at the end, its snapshot after each turn (of a crowd: at the end).
    """
    script = Script(case.ddl, {}, options=options)
    for turn in case.turns:
        for name in turn.drop:
            script.drop(name)
        for name, sql in turn.add:
            script.add(name, sql)
        if turn.rows:
            script.process(**_tables(turn.rows))
        if turn.advance_us is not None:
            script.advance(max(script.arrivals.clock_us, 0) + turn.advance_us)
        if turn.restart:
            script.restart()
        script.check(*(name for name in script.queries if "crowd" not in name))
    times = [row.values[0] for turn in case.turns for row in turn.rows]
    end = max([script.arrivals.clock_us, 0, *(t for t in times if t is not None)])
    return script.advance(end + _AFTERMATH_US).finish()


@st.composite
def query_set_cases(draw: st.DrawFn) -> QuerySetCase:
    """Any case."""
    lateness = tuple(draw(st.lists(st.sampled_from([0, 0, 0, 2]), min_size=3, max_size=3)))
    of = draw(st.lists(shapes(), min_size=1, max_size=3))
    joined = any(".d" in key for shape in of for pair in shape.keys for key in pair)
    rows = draw(_arrivals(max(lateness), _DOUBLES if joined else _WILD_DOUBLES))
    turns = [Turn(add=tuple(draw(_first_queries(of))))]
    there = [name for name, _ in turns[0].add if not name.startswith("keeper")]
    while rows:
        size = draw(st.sampled_from([30, 2, 5, 10, 1]))
        turns.append(Turn(tuple(rows[:size])))
        rows = rows[size:]
        turns.append(draw(_between(of, there)))
        there = [n for n in there if n not in turns[-1].drop] + [n for n, _ in turns[-1].add]
    return QuerySetCase(lateness, tuple(turns))


@st.composite
def _first_queries(draw: st.DrawFn, of: Sequence[Shape]) -> list[tuple[str, str]]:
    kept = draw(st.sampled_from(["a while", "a while", "for ever", "not"]))
    found = []
    if kept != "not":
        keepers = {s: keeper(s, everything=kept == "for ever") for s in STREAMS}
        found += [(f"keeper_{stream}", sql) for stream, sql in keepers.items()]
    many = _CROWD if draw(st.integers(0, 11)) == 11 else 0
    found += [(f"crowd{i}", sql) for i, sql in enumerate(crowd(of[0], many))]
    queries = draw(st.lists(members(of), min_size=1, max_size=6))
    return found + [(f"q{i}", sql) for i, sql in enumerate(queries)]


@st.composite
def _between(draw: st.DrawFn, of: Sequence[Shape], there: Sequence[str]) -> Turn:
    """What happens between two batches of rows; of some names, other queries come back."""
    kinds = ["nothing", "nothing", "change", "change", "change", "advance", "restart"]
    kind = draw(st.sampled_from(kinds))
    if kind == "advance":
        return Turn(advance_us=draw(st.sampled_from([0, 1, 2, 5, 12])) * STEP_US)
    if kind != "change":
        return Turn(restart=kind == "restart")
    most = max(4, len(there) // 2)  # half of a crowd goes at once
    drop = draw(st.lists(st.sampled_from(there), max_size=most, unique=True)) if there else []
    taken = set(there) - set(drop)
    free = [name for name in (f"q{i}" for i in range(99)) if name not in taken]
    add = draw(st.lists(members(of, totals=False), max_size=3))
    restart = draw(st.integers(0, 3)) == 3
    return Turn(drop=tuple(drop), add=tuple(zip(free, add, strict=False)), restart=restart)


@st.composite
def _arrivals(
    draw: st.DrawFn, lateness: int, doubles: st.SearchStrategy[float | None]
) -> list[Row]:
    """Rows in the order of arrival: most in order, some behind by up to ``lateness`` steps, a few
    by more, and a few without a timestamp.
    """
    lag = st.sampled_from([0, 0, 0, 0, *range(lateness + 1), lateness + 3])
    row = st.tuples(
        st.sampled_from("aabc"),
        st.sampled_from([0, 0, 0, 1, 1, 2, 4]),
        lag,
        st.integers(0, 40),
        *(KEYS, STRINGS, doubles, VALUES, _FLAGS, _TIMES),
    )
    now, rows = 3, []
    least = draw(st.sampled_from([0, 12, 24]))
    for stream, step, behind, luck, *payload in draw(st.lists(row, min_size=least, max_size=36)):
        now += step
        ts = None if luck == 40 else max(now - behind, 0) * STEP_US
        rows.append(Row(stream, (ts, *payload)))
    return rows


def _tables(rows: Sequence[Row]) -> dict[str, pa.Table]:
    """A table for each stream, also where there is no row for it."""
    found = {}
    for name, schema in STREAMS.items():
        mine = [row.values for row in rows if row.stream == name]
        columns = list(zip(*mine, strict=True)) or [()] * len(schema)
        arrays = [pa.array(c, t) for c, t in zip(columns, schema.types, strict=True)]
        found[name] = pa.Table.from_arrays(arrays, schema=schema)
    return found
