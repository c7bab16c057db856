"""What tables of files have in common, such as those of Delta and Iceberg: the rows of a batch and
its number are one commit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar, Final, Generic, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.errors import DataError, EddylineError, StateError
from eddyline.spark.sinks.answer_changes import (
    KNOWN,
    SIGN,
    last_changes,
    net_changes,
    repeated_key,
)
from eddyline.spark.sinks.failure_policy import RefusedError, UnavailableError
from eddyline.spark.sinks.table_modes import TableMode
from eddyline.spark.sinks.table_sink import SinkTable
from eddyline.types import sql_type

#: Property of a table with an answer: the job that writes it.
OWNER: Final = "eddyline.job"

#: A version of a table, as its library has it.
T = TypeVar("T")


class LakeTable(SinkTable, Generic[T]):
    """The table of one sink of a job.

    Args:
        label: of the first query or side output, for messages. place: of the table, for messages.
        rows: schema of the rows that are written, without the name of their query.
        key: columns that identify a row of the answer, for mode ``upsert``.
        job: identifies the job. replaces: whether a '+' replaces the row with its key.
    """

    sink: ClassVar[str]

    def __init__(
        self,
        label: str,
        place: str,
        contents: TableMode,
        rows: pa.Schema,
        key: Sequence[str],
        job: str,
        *,
        replaces: bool,
    ) -> None:
        self._label = label
        self._place = place
        self._contents = contents
        self._rows = rows
        self._key = tuple(key)
        self._job = job
        self._replaces = replaces
        self._is_shared: bool | None = None  # None: the table is not prepared

    def prepare(self, *, shared: bool, again: bool = False, continues: bool = False) -> None:
        if self._is_shared is None:
            with self._named():
                self._prepare(shared, again, continues)
            self._is_shared = shared

    def write(self, batch_id: int, rows: pa.Table, emptied: Sequence[str] = ()) -> None:
        with self._named():
            self._write(batch_id, rows, emptied)

    def _write(self, batch_id: int, rows: pa.Table, emptied: Sequence[str]) -> None:
        table = self._load()
        self._check_owner(table)
        last = self._last_batch(table)
        if last is not None and last >= batch_id:
            return
        self._check(table, self._contents.columns(self._rows, shared=bool(self._is_shared)))
        if self._is_answer:
            self._follow(table, batch_id, self._changes(rows), emptied)
        elif rows.num_rows:
            self._append(table, batch_id, self._contents.placed(batch_id, rows))
        self._maintain(table)

    @abstractmethod
    def _find(self) -> T | None:
        """The table; None if there is none."""

    @abstractmethod
    def _load(self) -> T:
        """The table, which is there."""

    @abstractmethod
    def _owner(self, table: T) -> str | None:
        """The job that writes the answer."""

    @abstractmethod
    def _last_batch(self, table: T) -> int | None:
        """The last batch of the job that is in the table."""

    @abstractmethod
    def _count(self, table: T) -> int:
        """The number of its rows."""

    @abstractmethod
    def _create(self, columns: pa.Schema, owner: str | None) -> None:
        """Create the table."""

    @abstractmethod
    def _check(self, table: T, columns: pa.Schema) -> None:
        """Check that it can have rows of these columns; see :func:`check_columns`."""

    @abstractmethod
    def _claim(self, table: T) -> None:
        """Note that the job owns the table."""

    @abstractmethod
    def _append(self, table: T, batch_id: int, rows: pa.Table) -> None:
        """Append the rows of a batch."""

    @abstractmethod
    def _follow(self, table: T, batch_id: int, changes: pa.Table, emptied: Sequence[str]) -> None:
        """Bring the answer in the table up to date.

        Args:
            changes: as of :mod:`answer_changes`. emptied: queries whose rows go before that.
        """

    @abstractmethod
    def _maintain(self, table: T) -> None:
        """From time to time, after a commit, remove what no reader needs any more."""

    @abstractmethod
    def _failure(self, error: Exception) -> str | None:
        """What an error of the table's store says; None of another error."""

    @property
    def _is_answer(self) -> bool:
        return self._contents.mode == "upsert"

    @property
    def _values(self) -> list[str]:
        """The columns that the table has of an answer."""
        return list(self._contents.columns(self._rows, shared=bool(self._is_shared)).names)

    @property
    def _whole_key(self) -> tuple[str, ...]:
        """The columns that identify a row of the table; () if it has one row."""
        return (QUERY_COLUMN, *self._key) if self._is_shared else self._key

    def _prepare(self, shared: bool, again: bool, continues: bool) -> None:
        columns = self._contents.columns(self._rows, shared=shared)
        table = self._find()
        is_own = table is not None and self._owner(table) == self._job
        if self._is_answer and not is_own:
            self._check_claim(table, again, continues)
        if table is None:
            self._create(columns, self._job if self._is_answer else None)
            return
        self._check(table, columns)
        if self._is_answer and not is_own:
            self._claim(table)

    def _check_owner(self, table: T) -> None:
        if self._is_answer and self._owner(table) != self._job:
            raise StateError("another job has taken the table")

    def _check_claim(self, table: T | None, again: bool, continues: bool) -> None:
        """Check that a table that the job does not own may become the answer."""
        if continues:
            raise DataError(
                "it would not have the answer of the query, but only what changes from now on: "
                "restore a copy of its former table there; or choose mode = 'append' or "
                "'changelog'; or add a query with another name"
            )
        if again:
            state = "is missing" if table is None else "belongs to another job"
            raise StateError(
                f"the table {state}: restore it, or start the job from a new checkpoint"
            )
        if table is not None and self._count(table):
            raise StateError(
                "it has rows that this job has not written, and would not have the answer of the "
                "query: empty it, or choose another table"
            )

    def _changes(self, rows: pa.Table) -> pa.Table:
        """What rows do to the answer; see :mod:`answer_changes`."""
        key = self._whole_key
        if self._replaces:
            return last_changes(rows, self._values, key)
        try:
            return net_changes(rows, self._values, key)
        except KeyError as e:
            raise self._same_key(e.args) from None

    def _there(self, changes: pa.Table) -> pa.Table:
        """The rows that are there after changes, in columns of the table."""
        there = changes.filter(pc.greater(changes[SIGN], 0))
        return there.drop_columns([SIGN, KNOWN]).rename_columns(self._values)

    def _keys(self, changes: pa.Table) -> pa.Table:
        """The keys of changes, in columns of the table."""
        values, key = self._values, self._whole_key
        return changes.select([f"c{values.index(name)}" for name in key]).rename_columns(key)

    def _check_new_keys(self, changes: pa.Table, keys: Iterable[pa.Table]) -> None:
        """Check that keys that come without a '-' for an older row are not in the table.

        Args:
            keys: of all rows of the table; not read if there are no such keys.
        """
        new = changes.filter(pc.and_(pc.greater(changes[SIGN], 0), pc.invert(changes[KNOWN])))
        if not new.num_rows:
            return
        own = self._keys(new)
        first = own.column_names[0]
        found = [own]
        for table in keys:
            known = table.select(own.column_names).cast(own.schema)
            found.append(known.filter(pc.is_in(known[first], value_set=own[first])))
        if (twice := repeated_key(found)) is not None:
            raise self._same_key([column[0].as_py() for column in twice.columns])

    def _same_key(self, values: Sequence[object]) -> RefusedError:
        key, shown = ", ".join(self._whole_key), ", ".join(map(str, values))
        return RefusedError(
            f"two rows of the answer have the same key ({key}): Key ({key})=({shown}). Choose "
            "columns that identify a row"
        )

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name query, sink and table in errors."""
        what = f"'{self._label}': sink '{self.sink}', table '{self._place}'"
        try:
            yield
        except EddylineError as e:
            raise type(e)(f"{what}: {e}") from None
        except Exception as e:  # of its packages and stores, in many types
            if (text := self._failure(e)) is None:
                raise
            raise UnavailableError(f"{what}: {text}") from e


def with_columns(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with all columns of a table, in its order; those that they do not have are NULL."""
    n, own = rows.num_rows, rows.schema.names
    columns = [rows[f.name] if f.name in own else pa.nulls(n, f.type) for f in schema]
    return pa.table(columns, names=schema.names)


def check_columns(wanted: pa.Schema, found: pa.Schema) -> None:
    """Check that a table can have rows of some columns.

    Args:
        wanted: the columns, in the types that the table would have. found: those of the table.

    Raises:
        DataError: a column is missing, has another type, or would have no value.
    """
    for field in wanted:
        if field.name not in found.names:
            raise DataError(
                f"it has no column '{field.name}' ({sql_type(field.type)}); its columns: "
                f"{', '.join(found.names)}"
            )
        own = found.field(field.name).type
        if own != field.type:
            named = sql_type if sql_type(own) != sql_type(field.type) else str
            has, needed = named(own), named(field.type)
            raise DataError(f"column '{field.name}' has the type {has}, and {needed} is needed")
    for field in found:
        if field.name not in wanted.names and not field.nullable:
            raise DataError(f"column '{field.name}' is NOT NULL, and the query has no such column")
