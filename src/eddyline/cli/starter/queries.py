"""Queries that fit the columns of a sample: counts, groups, and rows with a high value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.cli.starter.columns import Column
from eddyline.cli.starter.names import query_name, sql_name
from eddyline.sql.naming import quoted_text

#: Lengths of windows: SQL, as a text, seconds.
_LENGTHS: Final = (
    ("1 SECOND", "second", 1),
    ("10 SECONDS", "10 seconds", 10),
    ("1 MINUTE", "minute", 60),
    ("10 MINUTES", "10 minutes", 600),
    ("1 HOUR", "hour", 3_600),
    ("1 DAY", "day", 86_400),
)
#: So many rows are in a window on average, of a small sample less.
_ROWS_OF_WINDOW: Final = 20
_WINDOWS_OF_SAMPLE: Final = 5
_WIDEST: Final = 88
_MOST_GROUPS: Final = 50
_FEWEST_NUMBERS: Final = 3
#: The share of rows with a high value.
_HIGH: Final = 0.99
#: Numbers that name something instead of measuring it.
_NAMING: Final = re.compile(
    r"(?i)^(.*[_ ]?(id|ids|no|nr|num|number|code|port|zip|key|index|version|offset|partition)"
    r"|year|month|day|hour|minute|lat|lon|lng|latitude|longitude)$"
)


@dataclass(frozen=True)
class Subject:
    """What queries are about.

    Attributes:
        columns: without the event time. time: its column, as SQL; None: it has none.
        rate: rows per second; None: unknown. rows: of the sample.
    """

    stream: str
    columns: Sequence[Column]
    time: str | None
    rate: float | None
    rows: int


def starter_queries(subject: Subject) -> Iterator[str]:
    """Two or three CREATE QUERY statements, each below a comment that says what it asks."""
    stream = sql_name(subject.stream)
    length, named, _ = _window(subject)
    yield _query(
        [f"How many rows each {named} has, known when it has ended."],
        f"rows_per_{named}",
        ["window_start", "COUNT(*) AS n"],
        [f"FROM {stream} [TUMBLE {length}]", "GROUP BY window_start, window_end"],
    )
    group, measure = _group_of(subject.columns), _measure_of(subject.columns)
    yield _recent(stream, (length, named), group, measure)
    if measure is not None:
        shown = [subject.time, group and sql_name(group.name), sql_name(measure.name)]
        yield _high(stream, measure, [s for s in shown if s])
    elif group is not None:
        yield _rare(stream, group)


def _window(subject: Subject) -> tuple[str, str, int]:
    """The shortest window with enough rows."""
    if subject.rate is None:
        return _LENGTHS[2]
    enough = min(_ROWS_OF_WINDOW, subject.rows / _WINDOWS_OF_SAMPLE)
    return next((w for w in _LENGTHS if subject.rate * w[2] >= enough), _LENGTHS[-1])


def _query(about: Sequence[str], name: str, items: Sequence[str], lines: Sequence[str]) -> str:
    """CREATE QUERY below a comment; items of a long list are on lines of their own."""
    select = f"  SELECT {', '.join(items)}"
    if len(select) > _WIDEST:
        select = "  SELECT " + ",\n         ".join(items)
    head = [*(f"-- {line}" for line in about), f"CREATE QUERY {query_name(name)} AS", select]
    return "\n".join([*head, *(f"  {line}" for line in lines)]) + ";"


def _recent(
    stream: str, window: tuple[str, str], group: Column | None, measure: Column | None
) -> str:
    length, named = window
    items = ["COUNT(*) AS n"]
    if measure is not None:
        value = sql_name(measure.name)
        items += [
            f"AVG({value}) AS {query_name(f'mean_{measure.name}')}",
            f"MAX({value}) AS {query_name(f'highest_{measure.name}')}",
        ]
    lines = [f"FROM {stream} [RANGE {length}]", f"EMIT SNAPSHOT EVERY {length}"]
    if group is None:
        return _query([f"The last {named} in one row, every {named}."], "recent", items, lines)
    about = [
        f"The last {named} by {_in_comment(group.name)}, every {named}. Its window slides: with",
        "EMIT CHANGES as the last line each change of a group comes at once.",
    ]
    by = sql_name(group.name)
    lines.insert(1, f"GROUP BY {by}")
    return _query(about, f"by_{group.name}", [by, *items], lines)


def _high(stream: str, measure: Column, shown: Sequence[str]) -> str:
    limit = _literal(pc.quantile(measure.values.cast(pa.float64(), safe=False), _HIGH)[0].as_py())
    about = [
        f"Each row with a high {_in_comment(measure.name)}, at once: {limit} is that of one row in",
        "a hundred of the sample.",
    ]
    lines = [f"FROM {stream} [NOW]", f"WHERE {sql_name(measure.name)} >= {limit}"]
    return _query(about, f"high_{measure.name}", shown, lines)


def _rare(stream: str, group: Column) -> str:
    counts = pc.value_counts(group.values.drop_null()).to_pylist()
    value = min(counts, key=lambda c: c["counts"])["values"]
    literal = quoted_text(value) if isinstance(value, str) else str(value).upper()
    about = [f"Each row with the rarest {_in_comment(group.name)} of the sample, at once."]
    lines = [f"FROM {stream} [NOW]", f"WHERE {sql_name(group.name)} = {literal}"]
    return _query(about, f"rare_{group.name}", ["*"], lines)


def _group_of(columns: Sequence[Column]) -> Column | None:
    """A column with few values: the first one of text, else of truth values, else of numbers."""
    kinds = (pt.is_string, pt.is_boolean, pt.is_integer)
    for is_kind in kinds:
        for column in columns:
            if is_kind(column.type) and _has_few_values(column.values):
                return column
    return None


def _has_few_values(values: pa.Array) -> bool:
    known = len(values) - values.null_count
    distinct = pc.count_distinct(values).as_py()
    return bool(1 < distinct <= _MOST_GROUPS and 2 * distinct <= known)


def _measure_of(columns: Sequence[Column]) -> Column | None:
    """A column that measures something: the first one of fractions, else of other numbers."""
    kinds = (lambda t: pt.is_floating(t) or pt.is_decimal(t), pt.is_integer)
    for is_kind in kinds:
        for column in columns:
            if (
                is_kind(column.type)
                and not _NAMING.match(column.name)
                and pc.count_distinct(column.values).as_py() >= _FEWEST_NUMBERS
            ):
                return column
    return None


def _literal(value: float) -> str:
    """A number rounded down to three digits.

    >>> _literal(123456.0), _literal(0.012345), _literal(-7.0)
    ('123000', '0.0123', '-7')
    """
    rounded = float(f"{value:.3g}")
    return str(int(rounded)) if rounded == int(rounded) else f"{rounded:.12f}".rstrip("0")


def _in_comment(name: str) -> str:
    return " ".join(name.split())
