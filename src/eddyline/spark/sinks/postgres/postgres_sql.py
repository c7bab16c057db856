"""SQL of the sink ``postgres``: types, tables, and how a table follows the changes of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from psycopg.sql import SQL, Composable, Composed, Identifier
from pyarrow import csv

from eddyline.errors import DataError
from eddyline.types import sql_type

#: The table with the last batch of each job, in the schema of the tables that it writes.
BATCHES: Final = "eddyline_batches"
#: Rows of the text that is sent at once.
_CHUNK_ROWS: Final = 65_536
_WRITE: Final = csv.WriteOptions(include_header=False, quoting_style="needed")

_INTEGERS: Final = ("smallint", "integer", "bigint")
#: Types of PostgreSQL that hold all values of an Arrow type, the one of new tables first.
_TYPES: Final[dict[pa.DataType, tuple[str, ...]]] = {
    pa.bool_(): ("boolean",),
    pa.int8(): (*_INTEGERS, "numeric"),
    pa.int16(): (*_INTEGERS, "numeric"),
    pa.int32(): (*_INTEGERS[1:], "numeric"),
    pa.int64(): (*_INTEGERS[2:], "numeric"),
    pa.float32(): ("real", "double precision"),
    pa.float64(): ("double precision",),
    pa.string(): ("text", "character varying"),
    pa.binary(): ("bytea",),
    pa.date32(): ("date",),
}
_DECIMAL: Final = re.compile(r"numeric\((\d+),(\d+)\)")


class Column(NamedTuple):
    """A column of a table as PostgreSQL describes it.

    Attributes:
        type: with its modifiers. required: NOT NULL. fills: it has a default, or is generated.
    """

    name: str
    type: str
    required: bool
    fills: bool


class UniqueIndex(NamedTuple):
    """A unique index: its columns, and whether it admits one row with a NULL only."""

    columns: tuple[str, ...]
    nulls_equal: bool


def types_for(column: pa.Field) -> tuple[str, ...]:
    """Types of PostgreSQL for a column, the one of a new table first.

    Raises:
        DataError: there is none.
    """
    type_ = column.type
    if pa.types.is_decimal(type_):
        return (f"numeric({type_.precision},{type_.scale})", "numeric")
    if pa.types.is_timestamp(type_):
        zone = "with" if type_.tz is not None else "without"
        return (f"timestamp {zone} time zone",)
    if pa.types.is_duration(type_):
        return ("interval",)
    if type_ not in _TYPES:
        raise DataError(f"column '{column.name}': PostgreSQL has no type for {sql_type(type_)}")
    return _TYPES[type_]


def check_columns(columns: pa.Schema, found: Sequence[Column], table: str) -> None:
    """Check that a table can have rows of these columns.

    Raises:
        DataError: a column is missing, has another type, or would have no value.
    """
    by_name = {column.name: column for column in found}
    for column in columns:
        own, types = by_name.get(column.name), types_for(column)
        if own is None:
            raise DataError(
                f"the table {table} has no column '{column.name}' ({types[0]}); its columns: "
                f"{', '.join(by_name)}"
            )
        if own.type not in types and not _holds(own.type, column.type):
            raise DataError(
                f"the table {table}: column '{column.name}' has the type {own.type}, and "
                f"{types[0]} is needed"
            )
    for other in found:
        if other.name not in columns.names and other.required and not other.fills:
            raise DataError(
                f"the table {table}: column '{other.name}' is NOT NULL and has no default, and "
                "the query has no such column"
            )


def _holds(found: str, type_: pa.DataType) -> bool:
    decimal = _DECIMAL.fullmatch(found)
    if decimal is None or not pa.types.is_decimal(type_):
        return False
    precision, scale = int(decimal[1]), int(decimal[2])
    return bool(scale >= type_.scale and precision - scale >= type_.precision - type_.scale)


def names(columns: Iterable[str]) -> Composed:
    """Quoted names, separated by commas."""
    return SQL(", ").join(map(Identifier, columns))


def create_table(table: Identifier, columns: pa.Schema, key: Sequence[str]) -> Composed:
    """The statement that creates a table; no two rows have the same key."""
    parts: list[Composable] = [
        SQL("{} {}").format(Identifier(column.name), _type(types_for(column)[0]))
        for column in columns
    ]
    if key:
        parts.append(SQL("UNIQUE NULLS NOT DISTINCT ({})").format(names(key)))
    return SQL("CREATE TABLE {} ({})").format(table, SQL(", ").join(parts))


def create_batches(table: Identifier) -> Composed:
    """The statement that creates the table of the last batches."""
    return SQL(
        "CREATE TABLE {} (job text, table_name text, batch bigint NOT NULL,"
        " session text NOT NULL, PRIMARY KEY (job, table_name))"
    ).format(table)


@dataclass(frozen=True)
class Answer:
    """A table that has the answer of a query, and the statements that bring it up to date.

    The changes are in a temporary table: ``n``, their order; ``sign``, 1 or -1; and a column for
    each one of the table. ``IS NOT DISTINCT FROM`` uses no index, so keys with a NULL, which are
    rare, have a statement of their own.

    Attributes:
        columns: of the table, with their types there. key: those that identify a row; () if the
            table has one row at most.
        replaces: whether a '+' replaces the row with its key; else there is a '-' before it.
    """

    table: Identifier
    columns: Sequence[tuple[str, str]]
    key: Sequence[str]
    replaces: bool

    _CHANGES = Identifier("pg_temp", "eddyline_changes")

    def create_changes(self) -> Composed:
        """The statement that creates the temporary table."""
        own = (SQL("{} {}").format(c, _type(t)) for c, (_, t) in self._numbered())
        return SQL(
            "CREATE TEMPORARY TABLE eddyline_changes (n bigint, sign integer, {}) ON COMMIT DROP"
        ).format(SQL(", ").join(own))

    def copy_changes(self) -> Composed:
        """The COPY into the temporary table."""
        return SQL("COPY {} FROM STDIN (FORMAT csv)").format(self._CHANGES)

    def follow(self, *, has_nulls: bool) -> Iterator[Composed]:
        """The statements that apply the changes.

        Args:
            has_nulls: whether some keys have a NULL.
        """
        if not self.key:
            yield SQL("DELETE FROM {}").format(self.table)
            yield self._insert(self._last(), SQL(""))
            return
        source = self._last() if self.replaces else self._net()
        yield self._delete(source, nulls=False)
        if has_nulls:
            yield self._delete(source, nulls=True)
        if not self.replaces:
            yield self._insert(source, SQL(", generate_series(1, c.sign)"))
            return
        others = [name for name, _ in self.columns if name not in self.key]
        then: Composable = SQL("NOTHING")
        if others:
            excluded = (SQL("{0} = excluded.{0}").format(Identifier(name)) for name in others)
            then = SQL("UPDATE SET {}").format(SQL(", ").join(excluded))
        conflict = SQL(" ON CONFLICT ({}) DO {}").format(names(self.key), then)
        yield Composed([self._insert(source, SQL("")), conflict])

    def _numbered(self) -> Iterator[tuple[Identifier, tuple[str, str]]]:
        """The columns with their names in the temporary table."""
        return ((Identifier(f"c{i}"), column) for i, column in enumerate(self.columns))

    def _of_key(self) -> list[tuple[Identifier, Identifier]]:
        """Name in the table, and in the temporary table, of each column of the key."""
        return [(Identifier(name), c) for c, (name, _) in self._numbered() if name in self.key]

    def _last(self) -> Composed:
        """The last change of each key."""
        if not self.key:
            return SQL("SELECT * FROM {} ORDER BY n DESC LIMIT 1").format(self._CHANGES)
        key = SQL(", ").join(c for _, c in self._of_key())
        return SQL("SELECT DISTINCT ON ({0}) * FROM {1} ORDER BY {0}, n DESC").format(
            key, self._CHANGES
        )

    def _net(self) -> Composed:
        """What remains of changes that undo each other, in any order."""
        own = SQL(", ").join(c for c, _ in self._numbered())
        return SQL(
            "SELECT {0}, sum(sign)::integer AS sign FROM {1} GROUP BY {0} HAVING sum(sign) <> 0"
        ).format(own, self._CHANGES)

    def _delete(self, source: Composed, *, nulls: bool) -> Composed:
        same = SQL("t.{} IS NOT DISTINCT FROM c.{}" if nulls else "t.{} = c.{}")
        conditions = SQL(" AND ").join(same.format(*pair) for pair in self._of_key())
        if nulls:
            missing = (SQL("c.{} IS NULL").format(c) for _, c in self._of_key())
            conditions += SQL(" AND ({})").format(SQL(" OR ").join(missing))
        return SQL("DELETE FROM {} AS t USING ({}) AS c WHERE c.sign < 0 AND {}").format(
            self.table, source, conditions
        )

    def _insert(self, source: Composed, more: SQL) -> Composed:
        own = SQL(", ").join(SQL("c.{}").format(c) for c, _ in self._numbered())
        return SQL("INSERT INTO {} ({}) SELECT {} FROM ({}) AS c{} WHERE c.sign > 0").format(
            self.table, names(name for name, _ in self.columns), own, source, more
        )


def _type(name: str) -> Composable:
    """A type of ``types_for``, or one that the server has named."""
    return SQL(name)


def texts(rows: pa.Table) -> Iterator[memoryview]:
    """Rows as CSV for COPY: NULL is nothing, and all texts are in quotes."""
    columns = [_as_text(column) for column in rows.columns]
    table = pa.Table.from_arrays(columns, names=[str(i) for i in range(len(columns))])
    for batch in table.to_batches(max_chunksize=_CHUNK_ROWS):
        sink = pa.BufferOutputStream()
        csv.write_csv(batch, sink, _WRITE)
        yield memoryview(sink.getvalue())


def _as_text(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values that the CSV writer writes as COPY reads them."""
    type_ = values.type
    if pa.types.is_binary(type_):
        return pa.chunked_array([_hexadecimal(chunk) for chunk in values.chunks], pa.string())
    if pa.types.is_duration(type_):
        us = values.cast(pa.duration("us")).cast(pa.int64()).cast(pa.string())
        return pc.binary_join_element_wise(us, "microseconds", " ")
    return values


def _hexadecimal(values: pa.Array) -> pa.Array:
    r"""Bytes as ``\x`` and hexadecimal digits."""
    offsets = pa.Array.from_buffers(
        pa.int32(), len(values) + 1, [None, values.buffers()[1]], offset=values.offset
    ).to_numpy()
    first, last = (int(offsets[0]), int(offsets[-1])) if len(values) else (0, 0)
    data = values.buffers()[2]
    digits = b"" if data is None else memoryview(data)[first:last].hex().encode()
    places = pa.py_buffer(((offsets - first) * 2).astype("int32"))
    mask = values.is_valid().buffers()[1] if values.null_count else None
    text = pa.Array.from_buffers(
        pa.string(), len(values), [mask, places, pa.py_buffer(digits)], offset=0
    )
    return pc.binary_join_element_wise("\\x", text, "")
