"""``eddyline new``: from a place of data to a script in a file."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eddyline.algebra.catalog import TimeUnit
from eddyline.cli.starter.columns import Column, columns_of, event_time_of, event_times_in
from eddyline.cli.starter.names import query_name
from eddyline.cli.starter.sample import Sample, sample_files
from eddyline.cli.starter.script import Source, script_text, summary, times_of
from eddyline.errors import DataError
from eddyline.spark.sinks.printing import cell, count
from eddyline.types import sql_type

KAFKA: Final = "kafka://"


@dataclass(frozen=True)
class Starter:
    """What is asked for.

    Attributes:
        place: a file, a directory, or ``kafka://HOST:PORT/TOPIC``.
        file: of the script; None: named like the data, in the working directory.
        time: a column or an expression; None: it is found.
        rows: of the sample at most. seconds: to read messages. overwrite: the file.
    """

    place: str
    file: Path | None = None
    time: str | None = None
    rows: int = 10_000
    seconds: float = 10.0
    overwrite: bool = False


def write_starter(asked: Starter) -> Iterator[str]:
    """Write the script; yields lines that say what was found, and what to do next.

    Raises:
        DataError: the data cannot be read, have no time, or the file exists.
        SetupError: Kafka's connector or Java is missing.
    """
    stream = query_name(_stem(asked.place))
    file = asked.file or Path(f"{stream}.sql")
    if file.exists() and not asked.overwrite:
        raise DataError(f"'{file}' exists: overwrite it with --force, or name another --output")
    sample, parts = _sample(asked, file.absolute().parent)
    columns, others = columns_of(sample.rows, parts=parts)
    if asked.place.startswith(KAFKA):
        from eddyline.cli.starter.kafka import with_message_time

        columns = with_message_time(columns)
    source = _source(asked, stream, columns, others, sample)
    times = times_of(source)
    bad = f", {count(sample.bad, 'line is no row', 'lines are no rows')}" if sample.bad else ""
    yield f"{asked.place}: {count(sample.rows.num_rows, 'row')} read{bad}"
    yield from summary(source, times)
    command = f"eddyline new {shlex.quote(asked.place)}"
    text = script_text(source, times, sample.rows.num_rows, command, shlex.quote(file.name))
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as e:
        raise DataError(f"cannot write '{file}': {e.strerror}") from None
    yield f"wrote {file}; next: eddyline run {shlex.quote(str(file))}"


def _sample(asked: Starter, base: Path) -> tuple[Sample, bool]:
    """The sample, with all options of the stream, and whether fields may have paths."""
    if asked.place.startswith(KAFKA):
        from eddyline.cli.starter.kafka import sample_topic

        return sample_topic(asked.place, asked.rows, asked.seconds), True
    place = Path(asked.place)
    sample = sample_files(place, asked.rows)
    absolute = place.absolute()
    path = os.path.relpath(absolute, base) if absolute.is_relative_to(base) else str(absolute)
    if place.is_file():  # Spark watches directories and patterns
        path = str(Path(path).parent / f"{{{_escaped(place.name)}}}")
    rest = {k: v for k, v in sample.options.items() if k != "source"}
    options = {"source": sample.options["source"], "path": path, **rest}
    return Sample(sample.rows, options, sample.bad), options["source"] == "json"


def _source(
    asked: Starter, stream: str, columns: Sequence[Column], others: Sequence[str], sample: Sample
) -> Source:
    def source(time: str, unit: TimeUnit | None = None) -> Source:
        return Source(stream, columns, sample.options, time, unit, others)

    if asked.time is not None:
        column = next((c for c in columns if c.name.lower() == asked.time.lower()), None)
        if column is None:
            return source(asked.time)
        found = event_time_of(column)
        if found is None:
            raise DataError(f"--time {column.name}: {_no_time(column)}; {_ADVICE}")
        return source(column.name, found.unit)
    candidates = event_times_in(columns)
    if not candidates:
        listed = "\n".join(f"  {c.name} {sql_type(c.type)}{_shown(c)}" for c in columns)
        raise DataError(f"'{asked.place}' has no column with a usable time:\n{listed}\n{_ADVICE}")
    return source(candidates[0].column, candidates[0].unit)


_ADVICE: Final = (
    "a time is a timestamp, ISO 8601 text (2026-01-31T10:00:00Z), or a number of seconds, ms, us "
    "or ns since 1970. Another text is read by --time \"to_timestamp(column, 'dd.MM.yyyy HH:mm')\""
)


def _no_time(column: Column) -> str:
    return f"its values are no usable times{_shown(column)}"


def _shown(column: Column) -> str:
    """The first value of a column."""
    known = column.values.drop_null()
    return f", such as {cell(known[0].as_py())}" if len(known) else ""


def _escaped(name: str) -> str:
    r"""The pattern that a name alone fits.

    >>> print(_escaped("a[1].csv"))
    a\[1\].csv
    """
    return re.sub(r"[*?\[\]{},\\]", r"\\\g<0>", name)


def _stem(place: str) -> str:
    if place.startswith(KAFKA):
        return place.rstrip("/").rpartition("/")[2]
    return Path(place).absolute().name.partition(".")[0]
