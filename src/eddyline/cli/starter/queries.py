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

#: Lengths of windows: SQL, the end of a name, seconds.
_LENGTHS: Final = (
    ("1 SECOND", "second", 1),
    ("10 SECONDS", "10_seconds", 10),
    ("1 MINUTE", "minute", 60),
    ("10 MINUTES", "10_minutes", 600),
    ("1 HOUR", "hour", 3_600),
    ("1 DAY", "day", 86_400),
)
#: So many rows are in a window on average.
_ROWS_OF_WINDOW: Final = 20
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
        rate: rows per second; None: unknown.
    """

    stream: str
    columns: Sequence[Column]
    time: str | None
    rate: float | None


def starter_queries(subject: Subject) -> Iterator[str]:
    """Two or three CREATE QUERY statements, each below a comment that says what it asks."""
    length, named, _ = _window(subject.rate)
    stream = sql_name(subject.stream)
    yield (
        f"-- How many rows each {named.replace('_', ' ')} has, when it has ended.\n"
        f"CREATE QUERY {query_name(f'rows_per_{named}')} AS\n"
        "  SELECT window_start, COUNT(*) AS n\n"
        f"  FROM {stream} [TUMBLE {length}]\n"
        "  GROUP BY window_start, window_end;"
    )
    group, measure = _group_of(subject.columns), _measure_of(subject.columns)
    yield _by_group(stream, length, group, measure)
    if measure is not None:
        shown = [subject.time, group and sql_name(group.name), sql_name(measure.name)]
        yield _high(stream, measure, [s for s in shown if s])
    elif group is not None:
        yield _rare(stream, group)


def _window(rate: float | None) -> tuple[str, str, int]:
    """The shortest window with enough rows."""
    if rate is None:
        return _LENGTHS[2]
    return next((w for w in _LENGTHS if rate * w[2] >= _ROWS_OF_WINDOW), _LENGTHS[-1])


def _by_group(stream: str, length: str, group: Column | None, measure: Column | None) -> str:
    items = ["COUNT(*) AS n"]
    if measure is not None:
        name = sql_name(measure.name)
        items += [
            f"AVG({name}) AS {query_name(f'mean_{measure.name}')}",
            f"MAX({name}) AS {query_name(f'highest_{measure.name}')}",
        ]
    if group is None:
        return (
            f"-- The last {length.lower()}, in one row, once per {length.lower()}.\n"
            "CREATE QUERY recent AS\n"
            f"  SELECT {', '.join(items)}\n"
            f"  FROM {stream} [RANGE {length}]\n"
            f"  EMIT SNAPSHOT EVERY {length};"
        )
    name = sql_name(group.name)
    return (
        f"-- The last {length.lower()} by {_in_comment(group.name)}, once per {length.lower()}. With "
        "EMIT CHANGES instead\n-- of the last line: each change at once.\n"
        f"CREATE QUERY {query_name(f'by_{group.name}')} AS\n"
        f"  SELECT {name}, {', '.join(items)}\n"
        f"  FROM {stream} [RANGE {length}]\n"
        f"  GROUP BY {name}\n"
        f"  EMIT SNAPSHOT EVERY {length};"
    )


def _high(stream: str, measure: Column, shown: Sequence[str]) -> str:
    limit = _literal(pc.quantile(measure.values.cast(pa.float64(), safe=False), _HIGH)[0].as_py())
    return (
        f"-- Rows whose {_in_comment(measure.name)} is as high as that of one row in a hundred of the "
        "sample.\n"
        f"CREATE QUERY {query_name(f'high_{measure.name}')} AS\n"
        f"  SELECT {', '.join(shown)}\n"
        f"  FROM {stream} [NOW]\n"
        f"  WHERE {sql_name(measure.name)} >= {limit};"
    )


def _rare(stream: str, group: Column) -> str:
    counts = sorted(
        pc.value_counts(group.values.drop_null()).to_pylist(), key=lambda c: c["counts"]
    )
    value = counts[0]["values"]
    literal = quoted_text(value) if isinstance(value, str) else str(value).upper()
    return (
        f"-- The rows of the rarest {_in_comment(group.name)} of the sample.\n"
        f"CREATE QUERY {query_name(f'rare_{group.name}')} AS\n"
        "  SELECT *\n"
        f"  FROM {stream} [NOW]\n"
        f"  WHERE {sql_name(group.name)} = {literal};"
    )


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
