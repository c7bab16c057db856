"""Random scripts for sets of queries: rows, clock moves, restarts, queries added and dropped.

In most cases other queries keep the rows of all streams stored, so that a query is right as soon as
it is added; otherwise once its windows are full (see the model of retention).
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
    QueryShape,
    keeper,
    many_alike,
    random_query,
    random_shape,
)
from eddyline.testing.strategies.streams import STEP_US
from eddyline.testing.text import format_time, pretty
from eddyline.types import TIMESTAMP, sql_type

#: Longer than every RANGE window of a random query: after it, all rows have expired.
AFTERMATH_US: Final = 12 * STEP_US

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
#: The look-up tables, with the columns of the streams, and their kinds of updates. The second gets
#: more rows while queries run.
TABLES: Final[Mapping[str, str]] = {"names": "static", "rates": "non-retroactive"}
#: Values of rows beside ``ts``: small domains, so that many rows match; the first are frequent.
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

#: Number of queries that needs lineages of more than one word.
_MANY: Final = 90

#: Options that may not change answers.
_OPTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "chunk_rows": CHUNK_ROWS,
    "optimize": (True, True, False),
    "sharing": (True, True, True, False),
    "executor": ("eddy", "auto", "eddy", "auto", "tree"),
    "policy": ("ticket", "back-pressure", "random", "fixed"),
    "feedback": ("auto", "jit", "jit", "doe", "off"),
    "selections": ("push", "auto", "pull"),
    "schedule": ("lwo", "swf", "greedy"),
    "keep": ({}, {}, {}, {"a": 0.6}, {"a": 0.8, "c": 0.5}),
    "views": (False, True),
}
#: Further options; some of them disable sharing.
_STATE_OPTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "state": ("upa", "direct", "negative-tuple"),
    "lazy_expiry": (None, "2 seconds"),
}


def sharing_options(**fixed: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Random options of an engine by name; some of them fixed."""
    return st.integers(0, 2**48).map(lambda seed: random_options(Random(seed)) | fixed)


def random_options(random: Random) -> dict[str, Any]:
    """Random options of an engine by name."""
    choices = _OPTIONS if random.random() < 0.8 else _OPTIONS | _STATE_OPTIONS
    return {name: random.choice(values) for name, values in choices.items()}


@dataclass(frozen=True)
class ArrivingRow:
    """A row of input: its stream, and its values in the stream's order of columns."""

    stream: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Turn:
    """One step: rows arrive, the clock moves, a restart, or queries are added and dropped."""

    rows: tuple[ArrivingRow, ...] = ()
    read_tables: int | None = None  #: number of tables of changes that are read at once; None: all
    advance_us: int | None = None  #: distance from the clock, or from zero without a clock
    restart: bool = False
    drop: tuple[str, ...] = ()
    add: tuple[tuple[str, str], ...] = ()  #: names and SELECTs

    def __str__(self) -> str:
        lines = [f"DROP QUERY {name};" for name in self.drop]
        lines += [f"CREATE QUERY {name} AS {sql};" for name, sql in self.add]
        for name, table in turn_tables(self.rows).items():
            lines += [f"batch of {name}:\n{pretty(table)}"] * (table.num_rows > 0)
        if self.read_tables is not None:
            lines.append(f"-- {self.read_tables} tables of changes are read at once")
        if self.advance_us is not None:
            lines.append(f"advance by {format_time(self.advance_us)}")
        return "\n".join([*lines, *["restart"] * self.restart])


@dataclass(frozen=True, repr=False)
class QuerySetCase:
    """Queries and the steps of their script."""

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


def table_contents() -> dict[str, pa.Table]:
    """The initial rows of the tables."""
    first = _table(STREAMS["a"], [(i * STEP_US, *p) for i, p in enumerate(_PAYLOADS[:8])])
    return {"names": first, "rates": first.slice(0, 3)}


def play_set(case: QuerySetCase, options: Mapping[str, Any] | None = None) -> Script:
    """Run a case until all rows have expired. Every query is compared with the oracle: its history
    when it is dropped or at the end, its snapshot after some steps.
    """
    script = Script(case.ddl, {}, tables=table_contents(), options=options)
    for number, turn in enumerate(case.turns):
        for name in turn.drop:
            script.drop(name)
        for name, sql in turn.add:
            script.add(name, sql)
        if turn.rows and turn.read_tables is None:
            script.process(**turn_tables(turn.rows))
        elif turn.rows:
            script.listen(turn.read_tables or 1, **turn_tables(turn.rows))
        if turn.advance_us is not None:
            script.advance(max(script.ingest.clock_us, 0) + turn.advance_us)
        if turn.restart:
            script.restart()
        some = [name for name in script.tracked if "many" not in name][number % 2 :: 2]
        if some and not turn.rows:
            script.check(*some)
    times = [row.values[0] for turn in case.turns for row in turn.rows]
    end = max([script.ingest.clock_us, 0, *(t for t in times if t is not None)])
    return script.advance(end + AFTERMATH_US).finish()


def query_set_cases(
    sources: int | None = None, *, listening: bool = False
) -> st.SearchStrategy[QuerySetCase]:
    """Any case, as one seed for Hypothesis; drawing every choice would give many similar cases.

    Args:
        sources: number of items of FROM; None: any.
        listening: whether some streams of changes are closed early.
    """
    return st.integers(0, 2**48).map(
        lambda seed: random_case(Random(seed), sources, listening=listening, tables=True)
    )


def random_case(
    random: Random,
    sources: int | None = None,
    *,
    listening: bool = False,
    tables: bool = False,
) -> QuerySetCase:
    """Any case; ``tables``: with joins with tables."""
    lateness = tuple(random.choices([0, 0, 0, 2], k=3))
    names = random.choice(["a", "ab", "ab", "abc"])
    count = random.randint(1, 2)
    of = [random_shape(random, names, sources, tables=tables) for _ in range(count)]
    changing = not listening and any(s.table == "rates" for s in of)
    rows = _arrivals(random, names, max(lateness), _PAYLOADS, changing=changing)
    has_many = random.random() < 0.06
    turns = [Turn(add=tuple(_first_queries(random, of, _MANY if has_many else 0)))]
    current = [name for name, _ in turns[0].add if not name.startswith("keeper")]
    while rows:
        size = random.choice([12, 8, 4, 25])
        read_tables = random.randint(1, 4) if listening and random.random() < 0.3 else None
        turns.append(Turn(tuple(rows[:size]), read_tables))
        rows = rows[size:]
        for _ in range(random.choice([1, 1, 1, 2])):
            turn = _between(random, of, current, _MANY if has_many else 0)
            current = [n for n in current if n not in turn.drop] + [n for n, _ in turn.add]
            turns.append(turn)
    return QuerySetCase(lateness, tuple(turns))


def _first_queries(random: Random, of: Sequence[QueryShape], many: int) -> list[tuple[str, str]]:
    kept = random.choice(["a while", "a while", "for ever", "not"])
    found = []
    if kept != "not":
        keepers = {s: keeper(s, everything=kept == "for ever") for s in STREAMS}
        found += [(f"keeper_{stream}", sql) for stream, sql in keepers.items()]
    found += [(f"many{i}", sql) for i, sql in enumerate(many_alike(of[0], random.randint(0, many)))]
    return found + [(f"q{i}", random_query(random, of)) for i in range(random.randint(2, 7))]


def _between(random: Random, of: Sequence[QueryShape], current: Sequence[str], many: int) -> Turn:
    """The step between two batches of rows; dropped names may be used again."""
    kind = random.choice(["nothing", "change", "change", "change", "advance", "restart"])
    if kind == "advance":
        return Turn(advance_us=random.choice([0, 1, 2, 5, 12]) * STEP_US)
    if kind != "change":
        return Turn(restart=kind == "restart")
    most = max(3, len(current) // 2)  # half of many queries at once
    drop = random.sample(current, min(random.randint(0, most), len(current)))
    taken = set(current) - set(drop)
    free = [name for name in (f"q{i}" for i in range(99)) if name not in taken]
    add = [random_query(random, of, totals=False) for _ in range(random.randint(0, 4))]
    names = random.sample(free[: len(add) + 2], len(add))
    named = list(zip(names, add, strict=True))
    alike = enumerate(many_alike(of[0], random.randint(0, many)))
    named += [(f"many{i}", sql) for i, sql in alike if f"many{i}" not in taken]
    return Turn(drop=tuple(drop), add=tuple(named), restart=random.random() < 0.2)


def _arrivals(
    random: Random,
    names: str,
    lateness: int,
    payloads: Sequence[tuple[Any, ...]],
    *,
    changing: bool,
) -> list[ArrivingRow]:
    """Rows in the order of arrival: most in order, some behind by up to ``lateness`` steps, a few
    by more, and a few without a timestamp; ``changing``: also rows of a table.
    """
    behind = [*[0] * 24, *range(lateness + 1), lateness + 3, None]
    now, rows = 3, []
    for _ in range(random.choice([60, 60, 30, 5])):
        now += random.choice([0, 0, 0, 0, 0, 0, 1, 1, 1, 3])
        if changing and random.random() < 0.1:
            between = now * STEP_US + STEP_US // 2  # no tie with rows of streams
            rows.append(ArrivingRow("rates", (between, *random.choice(payloads))))
        lag = random.choice(behind)
        ts = None if lag is None else max(now - lag, 0) * STEP_US
        rows.append(
            ArrivingRow(random.choice(names), (ts, *random.choice([*payloads[:6], *payloads])))
        )
    return rows


def turn_tables(rows: Sequence[ArrivingRow]) -> dict[str, pa.Table]:
    """A table for each stream, also without rows; and changes of tables."""
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
