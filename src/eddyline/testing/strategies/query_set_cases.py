"""Random scripts for sets of queries: rows, moves of the clock, restarts, queries that come and go.

In most cases somebody keeps the rows of all streams, so that a query is right as soon as it is
added; in the others it may have to wait until its windows are full (``eddyline.testing.held``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import pyarrow as pa
from hypothesis import strategies as st

from eddyline.testing.script import Script
from eddyline.testing.strategies.cases import CHUNK_ROWS
from eddyline.testing.strategies.query_sets import (
    Shape,
    crowd,
    keeper,
    random_query,
    random_shape,
)
from eddyline.testing.strategies.streams import STEP_US
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
#: The tables that rows look up, with the columns of the streams, and what their changes are. The
#: second gets more rows while queries run.
TABLES: Final[Mapping[str, str]] = {"names": "static", "rates": "non-retroactive"}
#: What rows hold beside ``ts``: small domains, so that much meets; the first are the commonest.
_PAYLOADS: Final = (
    (1, "x", 1.0, 1, True, 2 * STEP_US),
    (2, "yy", 0.5, 2, False, 4 * STEP_US),
    (1, "yy", 2.0, 3, True, 4 * STEP_US),
    (2, "x", 1.0, 2, True, None),
    (1, "y", -1.25, -2, False, 1 * STEP_US),
    (0, "x", 0.0, 1, None, 6 * STEP_US),
    (1, "", -0.0, 0, True, 9 * STEP_US),
    (3, "xz", 2.5, 5, False, 2 * STEP_US),
    (1, None, None, None, True, 2 * STEP_US),
    (None, "x", 1.5, 2, None, 7 * STEP_US),
    (2, "é", None, 4, None, None),
    (None, None, None, None, None, None),
    (1, "x", math.nan, 1, True, 2 * STEP_US),
)

#: Enough queries for lineages of more than one word.
_CROWD: Final = 90

#: Ways to run queries, none of which may change their answers: keyword arguments of the Engine.
_OPTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "chunk_rows": CHUNK_ROWS,
    "optimize": (True, True, False),
    "sharing": (True, True, True, False),
    "executor": ("eddy", "auto", "eddy", "auto", "tree"),
    "policy": ("ticket", "back-pressure", "random", "fixed"),
    "feedback": ("auto", "jit", "jit", "doe", "off"),
    "selections": ("push", "push", "pull"),
    "schedule": ("lwo", "swf", "greedy"),
    "keep": ({}, {}, {}, {"a": 0.6}, {"a": 0.8, "c": 0.5}),
}
#: The same; with some of these nothing is shared.
_STATE_OPTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "state": ("upa", "direct", "negative-tuple"),
    "views": (False, True),
    "lazy_expiry": (None, "2 seconds"),
}


def sharing_options(**fixed: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Options of an engine by name; some of them fixed."""
    return st.integers(0, 2**48).map(lambda seed: random_options(Random(seed)) | fixed)


def random_options(luck: Random) -> dict[str, Any]:
    """Options of an engine by name."""
    choices = _OPTIONS if luck.random() < 0.8 else _OPTIONS | _STATE_OPTIONS
    return {name: luck.choice(values) for name, values in choices.items()}


@dataclass(frozen=True)
class Row:
    """A row as it arrives: its stream, and its values in the stream's order of columns."""

    stream: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Turn:
    """What happens next: rows arrive, the clock moves, a restart, or queries come and go."""

    rows: tuple[Row, ...] = ()
    heard: int | None = None  #: of the changes that they bring about, so many tables; None: all
    advance_us: int | None = None  #: by how much, from the clock, or from zero before there is one
    restart: bool = False
    drop: tuple[str, ...] = ()
    add: tuple[tuple[str, str], ...] = ()  #: names and SELECTs

    def __str__(self) -> str:
        lines = [f"DROP QUERY {name};" for name in self.drop]
        lines += [f"CREATE QUERY {name} AS {sql};" for name, sql in self.add]
        for name, table in _tables(self.rows).items():
            lines += [f"batch of {name}:\n{pretty(table)}"] * (table.num_rows > 0)
        if self.heard is not None:
            lines.append(f"-- of what it brings about, {self.heard} tables are heard at once")
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
        """The CREATE statements of the streams and tables."""
        lines = [
            f"CREATE STREAM {name} ({_columns(schema)}) TIMESTAMP BY ts LATENESS {late} SECONDS;"
            for (name, schema), late in zip(STREAMS.items(), self.lateness, strict=True)
        ]
        for name, updates in TABLES.items():
            options = "" if updates == "static" else f" WITH (updates = '{updates}')"
            lines.append(f"CREATE TABLE {name} ({_columns(STREAMS['a'])}){options};")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return "\n".join([f"\n{self.ddl}", *map(str, self.turns)])


def play_set(case: QuerySetCase, options: Mapping[str, Any] | None = None) -> Script:
    """Run a case until all rows have expired, with every query compared with the oracle: its
    history when it is dropped or at the end, its snapshot now and then.
    """
    first = _table(STREAMS["a"], [(i * STEP_US, *p) for i, p in enumerate(_PAYLOADS[:8])])
    tables = {"names": first, "rates": first.slice(0, 3)}
    script = Script(case.ddl, {}, tables=tables, options=options)
    for number, turn in enumerate(case.turns):
        for name in turn.drop:
            script.drop(name)
        for name, sql in turn.add:
            script.add(name, sql)
        if turn.rows and turn.heard is None:
            script.process(**_tables(turn.rows))
        elif turn.rows:
            script.listen(turn.heard or 1, **_tables(turn.rows))
        if turn.advance_us is not None:
            script.advance(max(script.arrivals.clock_us, 0) + turn.advance_us)
        if turn.restart:
            script.restart()
        some = [name for name in script.followed if "crowd" not in name][number % 2 :: 2]
        if some and not turn.rows:
            script.check(*some)
    times = [row.values[0] for turn in case.turns for row in turn.rows]
    end = max([script.arrivals.clock_us, 0, *(t for t in times if t is not None)])
    return script.advance(end + _AFTERMATH_US).finish()


def query_set_cases(
    sources: int | None = None, *, listening: bool = False
) -> st.SearchStrategy[QuerySetCase]:
    """Any case: a seed to Hypothesis, which would otherwise make many that hardly differ.

    Args:
        sources: how many items FROM lists; None: any number.
        listening: whether somebody stops listening early, now and then.
    """
    return st.integers(0, 2**48).map(
        lambda seed: random_case(Random(seed), sources, listening=listening, tables=True)
    )


def random_case(
    luck: Random,
    sources: int | None = None,
    *,
    listening: bool = False,
    tables: bool = False,
) -> QuerySetCase:
    """Any case; with joins with ``tables`` or without."""
    lateness = tuple(luck.choices([0, 0, 0, 2], k=3))
    names = luck.choice(["a", "ab", "ab", "abc"])
    count = luck.randint(1, 2)
    of = [random_shape(luck, names, sources, tables=tables) for _ in range(count)]
    changing = not listening and any(s.table == "rates" for s in of)
    rows = _arrivals(luck, names, max(lateness), _PAYLOADS, changing=changing)
    crowded = luck.random() < 0.06
    turns = [Turn(add=tuple(_first_queries(luck, of, _CROWD if crowded else 0)))]
    there = [name for name, _ in turns[0].add if not name.startswith("keeper")]
    while rows:
        size = luck.choice([12, 8, 4, 25])
        heard = luck.randint(1, 4) if listening and luck.random() < 0.3 else None
        turns.append(Turn(tuple(rows[:size]), heard))
        rows = rows[size:]
        for _ in range(luck.choice([1, 1, 1, 2])):
            turn = _between(luck, of, there, _CROWD if crowded else 0)
            there = [n for n in there if n not in turn.drop] + [n for n, _ in turn.add]
            turns.append(turn)
    return QuerySetCase(lateness, tuple(turns))


def _first_queries(luck: Random, of: Sequence[Shape], many: int) -> list[tuple[str, str]]:
    kept = luck.choice(["a while", "a while", "for ever", "not"])
    found = []
    if kept != "not":
        keepers = {s: keeper(s, everything=kept == "for ever") for s in STREAMS}
        found += [(f"keeper_{stream}", sql) for stream, sql in keepers.items()]
    found += [(f"crowd{i}", sql) for i, sql in enumerate(crowd(of[0], luck.randint(0, many)))]
    return found + [(f"q{i}", random_query(luck, of)) for i in range(luck.randint(2, 7))]


def _between(luck: Random, of: Sequence[Shape], there: Sequence[str], many: int) -> Turn:
    """What happens between two batches of rows; of some names, other queries come back."""
    kind = luck.choice(["nothing", "change", "change", "change", "advance", "restart"])
    if kind == "advance":
        return Turn(advance_us=luck.choice([0, 1, 2, 5, 12]) * STEP_US)
    if kind != "change":
        return Turn(restart=kind == "restart")
    most = max(3, len(there) // 2)  # half of a crowd goes at once
    drop = luck.sample(there, min(luck.randint(0, most), len(there)))
    taken = set(there) - set(drop)
    free = [name for name in (f"q{i}" for i in range(99)) if name not in taken]
    add = [random_query(luck, of, totals=False) for _ in range(luck.randint(0, 4))]
    names = luck.sample(free[: len(add) + 2], len(add))
    named = list(zip(names, add, strict=True))
    crowding = enumerate(crowd(of[0], luck.randint(0, many)))
    named += [(f"crowd{i}", sql) for i, sql in crowding if f"crowd{i}" not in taken]
    return Turn(drop=tuple(drop), add=tuple(named), restart=luck.random() < 0.2)


def _arrivals(
    luck: Random,
    names: str,
    lateness: int,
    payloads: Sequence[tuple[Any, ...]],
    *,
    changing: bool,
) -> list[Row]:
    """Rows in the order of arrival: most in order, some behind by up to ``lateness`` steps, a few
    by more, and a few without a timestamp; and if it is ``changing``, rows for a table.
    """
    behind = [*[0] * 24, *range(lateness + 1), lateness + 3, None]
    now, rows = 3, []
    for _ in range(luck.choice([60, 60, 30, 5])):
        now += luck.choice([0, 0, 0, 0, 0, 0, 1, 1, 1, 3])
        if changing and luck.random() < 0.1:
            between = now * STEP_US + STEP_US // 2  # which counts first of one instant is no matter
            rows.append(Row("rates", (between, *luck.choice(payloads))))
        lag = luck.choice(behind)
        ts = None if lag is None else max(now - lag, 0) * STEP_US
        rows.append(Row(luck.choice(names), (ts, *luck.choice([*payloads[:6], *payloads]))))
    return rows


def _tables(rows: Sequence[Row]) -> dict[str, pa.Table]:
    """A table for each stream, also where there is no row for it; and changes of tables."""
    found = {}
    for name, schema in STREAMS.items():
        found[name] = _table(schema, [row.values for row in rows if row.stream == name])
    for name in TABLES:
        new = _table(STREAMS["a"], [row.values for row in rows if row.stream == name])
        if new.num_rows:
            found[name] = new.add_column(0, "_ts", new["ts"])
    return found


def _table(schema: pa.Schema, rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(c, t) for c, t in zip(columns, schema.types, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{f.name} {sql_type(f.type)}" for f in schema)
