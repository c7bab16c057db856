"""The text of a starter script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.catalog import StreamDef, TimeUnit
from eddyline.cli.starter.columns import Column, disorder_of
from eddyline.cli.starter.names import sql_name
from eddyline.cli.starter.queries import Subject, starter_queries
from eddyline.engine.ingest.row_reader import RowReader
from eddyline.engine.ingest.sampled import rate_of
from eddyline.errors import DataError, EddylineError
from eddyline.runtime.stores.columns import Array
from eddyline.spark.sinks.printing import cell, count
from eddyline.sql.naming import quoted_text
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateStream
from eddyline.types import TIMESTAMP, sql_type

#: Values of LATENESS: SQL and seconds.
_LATENESS: Final = (
    ("1 SECOND", 1),
    ("5 SECONDS", 5),
    ("10 SECONDS", 10),
    ("30 SECONDS", 30),
    ("1 MINUTE", 60),
    ("5 MINUTES", 300),
    ("10 MINUTES", 600),
    ("30 MINUTES", 1_800),
    ("1 HOUR", 3_600),
    ("6 HOURS", 21_600),
    ("12 HOURS", 43_200),
    ("1 DAY", 86_400),
)
_DAY_US: Final = 86_400_000_000
_EXAMPLES: Final = 3
_EXAMPLE_CHARACTERS: Final = 24
_WIDEST_COLUMN: Final = 50


@dataclass(frozen=True)
class Source:
    """What a script reads.

    Attributes:
        stream: its name. columns: of a sample. others: columns that a stream cannot have.
        options: of the stream. time: a column or an expression. unit: of a column of numbers.
    """

    stream: str
    columns: Sequence[Column]
    options: Mapping[str, str]
    time: str
    unit: TimeUnit | None = None
    others: Sequence[str] = field(default=())

    @property
    def time_column(self) -> Column | None:
        """The event time; None: it is an expression."""
        return next((c for c in self.columns if c.name.lower() == self.time.lower()), None)


@dataclass(frozen=True)
class Times:
    """The event times of a sample.

    Attributes:
        us: int64[n], in the order of the rows, without bad rows.
        bad: number of rows without a usable one. reason: of the first of them.
    """

    us: Array
    bad: int
    reason: str | None

    @property
    def disorder_us(self) -> int:
        """By how much a row is behind an earlier one at most."""
        return disorder_of(self.us)


def times_of(source: Source) -> Times:
    """The event times as a stream would read them.

    Raises:
        DataError: no row has one, or the expression is wrong.
    """
    try:
        (statement,) = parse(_stream(source, None))
        assert isinstance(statement, CreateStream)
        times = _read(statement.definition, source.columns)
    except EddylineError as e:
        raise DataError(f"--time {source.time}: {e}") from None
    if not times.us.size:
        raise DataError(f"--time {source.time}: no row has a usable time: {times.reason}")
    return times


def script_text(source: Source, times: Times, rows: int, command: str, file: str) -> str:
    """The whole script.

    Args:
        rows: of the sample. command: that wrote it. file: its name.
    """
    time = source.time_column
    subject = Subject(
        source.stream,
        [c for c in source.columns if c is not time],
        None if time is None else sql_name(time.name),
        rate_of(np.sort(times.us)),
        times.us.size,
    )
    queries = "\n\n".join(starter_queries(subject))
    return f"{_head(rows, command, file)}\n\n{_stream(source, times)};\n\n{queries}\n"


def lateness_of(disorder_us: int) -> str | None:
    """LATENESS for rows that are so far out of order, in us; None: they are in order.

    >>> lateness_of(0), lateness_of(2_500_000), lateness_of(90_000_000_000)
    (None, '5 SECONDS', '2 DAYS')
    """
    if not disorder_us:
        return None
    fitting = (text for text, s in _LATENESS if s * 1_000_000 >= disorder_us)
    return next(fitting, None) or f"{-(-disorder_us // _DAY_US)} DAYS"


def _read(definition: StreamDef, columns: Sequence[Column]) -> Times:
    rows = pa.table({c.name: c.values for c in columns})
    typed = RowReader(definition).read(rows)
    if typed.reasons is None:
        return Times(np.asarray(typed.times.cast(pa.int64())), 0, None)
    good = np.asarray(typed.times.filter(typed.reasons.is_null()).cast(pa.int64()))
    bad = typed.reasons.drop_null()
    return Times(good, len(bad), bad[0].as_py() if len(bad) else None)


def _head(rows: int, command: str, file: str) -> str:
    width = len(file)
    command = " ".join(command.split())
    lines = [
        f"Written by `{command}` from {count(rows, 'row')}; change it as you like.",
        "",
        f"  eddyline check {file}    finds mistakes",
        f"  eddyline run {file}      runs it over the rows that are there",
        f"  eddyline run {file} --continuous --checkpoint DIR",
        f"               {'':{width}}    goes on with rows that come, also after a restart",
        "",
        "Results are printed. A query that ends with",
        "  WITH (sink = 'parquet', path = 'results/NAME')",
        "writes files instead; other sinks are PostgreSQL, Delta, Kafka, webhooks, ...",
    ]
    return "\n".join(f"-- {line}".rstrip() for line in lines)


def _stream(source: Source, times: Times | None) -> str:
    """CREATE STREAM, without the semicolon; None: without LATENESS."""
    time = source.time_column
    declared: list[tuple[str, str]] = []
    for number, column in enumerate(source.columns, start=1):
        type_ = TIMESTAMP if column is time else column.type
        comma = "," if number < len(source.columns) else ""
        parts = (sql_name(column.name), sql_type(type_), column.clause)
        note = _note(column) if column is not time else "the event time"
        declared.append((" ".join(p for p in parts if p) + comma, note))
    width = min(max(len(text) for text, _ in declared), _WIDEST_COLUMN)
    lines = [f"CREATE STREAM {sql_name(source.stream)} ("]
    lines += [f"  {text:{width}}  -- {note}" if note else f"  {text}" for text, note in declared]
    lines += [f"  -- cannot be a column: {_example(name)}" for name in source.others]
    by = f"({source.time})" if time is None else sql_name(time.name)
    late = None if times is None else lateness_of(times.disorder_us)
    lines.append(f") TIMESTAMP BY {by}" + (f" LATENESS {late}" if late else ""))
    if late:
        lines.append("  -- LATENESS: a row may come so much later than one with a later time.")
    lines.append(f"  WITH ({_options(source)})")
    return "\n".join(lines)


def _options(source: Source) -> str:
    unit = {} if source.unit is None else {"ts_unit": source.unit}
    items = {**source.options, **unit}.items()
    return ", ".join(f"{name} = {quoted_text(value)}" for name, value in items)


def _note(column: Column) -> str:
    """What a column has, for a comment."""
    known = column.values.drop_null()
    if not len(known):
        return "no values in the sample"
    if pt.is_nested(column.type) or pt.is_binary(column.type) or pt.is_boolean(column.type):
        return ""
    if not pt.is_string(known.type):
        ends = pc.min_max(known)
        first, last = (_example(ends[end].as_py()) for end in ("min", "max"))
        return f"{first} to {last}" if first != last else first
    distinct = pc.unique(known)
    examples = ", ".join(_example(v) for v in distinct[:_EXAMPLES].to_pylist())
    more = ", ..." if len(distinct) > _EXAMPLES else ""
    return f"{count(len(distinct), 'value')}: {examples}{more}"


def _example(value: object) -> str:
    text = " ".join(cell(value).split())
    shown = "".join(c for c in text if c.isprintable())
    return shown if len(shown) <= _EXAMPLE_CHARACTERS else f"{shown[: _EXAMPLE_CHARACTERS - 1]}…"


def summary(source: Source, times: Times) -> Iterator[str]:
    """Lines for the user: the columns, and the event time."""
    width = max(len(c.name) for c in source.columns)
    time = source.time_column
    for column in source.columns:
        type_ = TIMESTAMP if column is time else column.type
        yield f"  {column.name:{width}}  {sql_type(type_)}" + ("  event time" * (column is time))
    first, last = (cell(pa.scalar(int(us), TIMESTAMP).as_py()) for us in _ends(times.us))
    late = lateness_of(times.disorder_us)
    order = "" if late is None else f", up to {late.lower()} out of order"
    yield f"from {first} to {last} UTC{order}"
    if times.bad:
        has = count(times.bad, "row has", "rows have")
        yield f"{has} no usable time and will be written to the bad rows: {times.reason}"


def _ends(us: Array) -> tuple[int, int]:
    return int(us.min()), int(us.max())
