"""Random cases: declarations, a query, and the steps of a script; and how to run them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
from hypothesis import strategies as st

from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.testing.ingest_model import IngestModel, StreamRules, TableRules
from eddyline.testing.retention_model import RetentionModel
from eddyline.testing.script import Script
from eddyline.testing.strategies.queries import queries
from eddyline.testing.strategies.streams import (
    STEP_US,
    STREAMS,
    TABLES,
    Arrival,
    arrivals,
    dimensions,
    tables_of,
)
from eddyline.testing.text import format_time, pretty
from eddyline.types import sql_type

#: Longer than every RANGE window of a random query: after it all rows have expired.
_AFTERMATH_US: Final = 12 * STEP_US

CHUNK_ROWS: Final = (1, 2, 7, 16_384)

#: Statistics, right or wrong: joins are ordered by them.
_STATISTICS: Final = st.builds(
    Statistics,
    rates=st.fixed_dictionaries({name: st.sampled_from([0.01, 1.0, 100.0]) for name in STREAMS}),
    table_rows=st.fixed_dictionaries(
        {name: st.sampled_from([1, 1_000, 1_000_000]) for name in TABLES}
    ),
)

#: Options that may not change the answer of a query.
OPTIONS: Final[st.SearchStrategy[dict[str, Any]]] = st.fixed_dictionaries(
    {
        "state": st.sampled_from(["upa", "direct", "negative-tuple"]),
        "partitions": st.sampled_from([64, 10, 1]),
        "views": st.booleans(),
        "negative_tuples_from": st.sampled_from([None, 0.0]),
        "feedback": st.sampled_from(["auto", "jit", "off", "doe"]),
        "mns": st.sampled_from(["index", "bloom"]),
        "combinations": st.booleans(),
        "lazy_expiry": st.sampled_from([None, "2 seconds"]),
        "chunk_rows": st.sampled_from(CHUNK_ROWS),
        "statistics": st.just(UNKNOWN) | _STATISTICS,
        "keep": st.sampled_from([{}, {}, {}, {"a": 0.7}, {"a": 0.4, "b": 0.8}, {"b": 0.5}]),
    }
)


@dataclass(frozen=True)
class Step:
    """One step: a batch of rows, or (without rows) a move of the clock, or a restart.

    ``lacking``: streams without rows are left out of the call; else they get empty batches.
    """

    rows: tuple[Arrival, ...] = ()
    advance_us: int | None = None  #: distance from the clock, or from zero without a clock
    restart: bool = False
    lacking: bool = False


@dataclass(frozen=True, repr=False)
class Case:
    """A query and the steps of its script."""

    sql: str
    lateness: tuple[int, ...]  #: of the streams a, b, c, d, in steps
    tables: Mapping[str, pa.Table]  #: initial contents of tables
    steps: tuple[Step, ...]

    @property
    def ddl(self) -> str:
        """The CREATE statements."""
        streams = [
            f"CREATE STREAM {name} ({', '.join(f'{f.name} {sql_type(f.type)}' for f in schema)})"
            f" TIMESTAMP BY ts LATENESS {late} SECONDS;"
            for (name, schema), late in zip(STREAMS.items(), self.lateness, strict=True)
        ]
        tables = [
            f"CREATE TABLE {name} (k BIGINT, s STRING, w BIGINT) WITH (updates = '{updates}');"
            for name, updates in TABLES.items()
            if name in self.tables
        ]
        return "\n".join([*streams, *tables])

    @property
    def inputs(self) -> list[str]:
        """The streams and the live tables."""
        return [*STREAMS, *(name for name in self.tables if TABLES[name] != "static")]

    @property
    def rules(self) -> dict[str, StreamRules]:
        """The watermark rules of the streams."""
        return {
            name: StreamRules(schema, "ts", late * STEP_US)
            for (name, schema), late in zip(STREAMS.items(), self.lateness, strict=True)
        }

    @property
    def table_rules(self) -> dict[str, TableRules]:
        """The rules of the live tables."""
        return {
            name: TableRules(self.tables[name], updates)
            for name, updates in TABLES.items()
            if name in self.tables and updates != "static"
        }

    def __repr__(self) -> str:
        lines = [f"\n{self.ddl}\n{self.sql}"]
        lines += [f"initial {name}:\n{pretty(rows)}" for name, rows in self.tables.items()]
        for step in self.steps:
            if step.rows:
                tables = tables_of(step.rows, sorted({r.stream for r in step.rows}))
                lines += [f"batch of {name}:\n{pretty(table)}" for name, table in tables.items()]
            elif step.advance_us is not None:
                lines.append(f"advance by {format_time(step.advance_us)}")
            else:
                lines.append("restart" if step.restart else "empty batch")
        return "\n".join(lines)


def play(case: Case, *, check: bool = True, options: Mapping[str, Any] | None = None) -> Script:
    """Run a case until every row has expired; ``check``: compare after each step.

    ``options``: fields of EngineOptions and StrategyOptions.
    """
    script = Script(case.ddl, case.sql, tables=case.tables, options=options)
    for step in case.steps:
        if step.advance_us is not None:
            script.advance(max(script.ingest.clock_us, 0) + step.advance_us)
        elif step.restart:
            script.restart()
        else:
            names = {r.stream for r in step.rows} if step.lacking else case.inputs
            script.process(**tables_of(step.rows, sorted(names)))
        if check:
            script.check()
    script.advance(_end_us(case, script.ingest.clock_us))
    return script


@st.composite
def cases(draw: st.DrawFn, of: st.SearchStrategy[str] | None = None) -> Case:
    """Any case: disorder, late rows, advances, empty batches, restarts.

    Args:
        of: the text of the query; None: any.
    """
    lateness = tuple(draw(st.lists(st.sampled_from([0, 0, 2, 4]), min_size=4, max_size=4)))
    sql = draw(queries() if of is None else of)
    tables = {name: draw(dimensions()) for name in TABLES if f" {name} AS " in sql}
    live = {name: rows for name, rows in tables.items() if TABLES[name] != "static"}
    rows = draw(arrivals(_streams_in(sql), max(lateness), tables=live))
    return Case(sql, lateness, tables, tuple(draw(_steps(rows))))


@st.composite
def resplit(draw: st.DrawFn, case: Case) -> Case:
    """The same rows in other batches, cut where no row becomes late and no rows of one instant are
    separated, with restarts between some of them.

    Rows of one instant in several streams are processed in the order of the streams within a call,
    so only calls with all of them are equivalent.
    """
    rows = [r for step in case.steps for r in step.rows]
    clean = [i for i in range(1, len(rows)) if _clean_cut(case, rows, i)]
    cuts = sorted(draw(st.sets(st.sampled_from(clean)))) if clean else []
    bounds = [0, *cuts, len(rows)]
    steps = []
    for a, b in itertools.pairwise(bounds):
        if a < b:
            steps.append(Step(tuple(rows[a:b])))
            if draw(st.integers(0, 3)) == 3:
                steps.append(Step(restart=True))
    return replace(case, steps=tuple(steps))


def in_one_batch(case: Case) -> Case:
    """The same rows in one call."""
    return replace(case, steps=(Step(tuple(r for s in case.steps for r in s.rows)),))


def _clean_cut(case: Case, rows: Sequence[Arrival], at: int) -> bool:
    model = IngestModel(case.rules, case.table_rules)
    model.read(RetentionModel().reads(case.sql))
    model.process(tables_of(rows[:at], case.inputs))
    before = [r for r in rows[:at] if r.row[0] is not None]
    after = [r for r in rows[at:] if r.row[0] is not None]
    if any(r.row[0] < model.clock_of([r.stream]) for r in after):
        return False
    streams_at: dict[int, set[str]] = {}
    for r in before:
        streams_at.setdefault(r.row[0], set()).add(r.stream)
    return all(streams_at.get(r.row[0], {r.stream}) == {r.stream} for r in after)


@st.composite
def _steps(draw: st.DrawFn, rows: Sequence[Arrival]) -> list[Step]:
    steps, rest = [], list(rows)
    while rest:
        size = draw(st.sampled_from([30, 1, 2, 3, 5, 10]))
        steps.append(Step(tuple(rest[:size]), lacking=draw(st.booleans())))
        rest = rest[size:]
        between = draw(st.sampled_from(["nothing", "nothing", "advance", "restart", "empty"]))
        if between == "advance":
            steps.append(Step(advance_us=draw(st.sampled_from([0, 1, 2, 5])) * STEP_US))
        elif between != "nothing":
            steps.append(Step(restart=between == "restart"))
    return steps


def _streams_in(sql: str) -> list[str]:
    """The streams of a random query, which has each as ``name [window]``; one that moves the clock
    if the query reads tables only.
    """
    return [name for name in STREAMS if f" {name} [" in sql] or ["a"]


def _end_us(case: Case, clock_us: int) -> int:
    times: list[int] = [r.row[0] for s in case.steps for r in s.rows if r.row[0] is not None]
    return max([clock_us, 0, *times]) + _AFTERMATH_US
