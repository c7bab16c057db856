"""What a table has of a query: options of the sinks for tables, checked without the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

import pyarrow as pa

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.engine.query import Query
from eddyline.errors import DataError, did_you_mean
from eddyline.spark.formats.format_options import SEQ, OptionError
from eddyline.spark.sinks.sequence import SEQ_COLUMN, has_seq, numbers
from eddyline.spark.sinks.sink_bases import Target
from eddyline.types import sql_type

#: The emitted rows, these with a place for each, or the answer.
Mode = Literal["append", "changelog", "upsert"]

#: Columns before those of a change in a changelog: its place among all changes.
PLACE: Final = (pa.field("_batch", pa.int64()), SEQ_COLUMN)
#: Columns of a change before the select list.
CHANGE_COLUMNS: Final = 3


class GivenOptions(dict[str, str]):
    """The options of a sink, by name in lower case.

    Args:
        label: of the query or side output, for messages. options: as written.
    """

    def __init__(self, label: str, options: Mapping[str, str]) -> None:
        super().__init__({name.lower(): value for name, value in options.items()})
        self._label = label
        self._names = {name.lower(): name for name in options}

    def wrong(self, option: str, message: str) -> OptionError:
        """The error of a value."""
        return OptionError(f"'{self._label}': {message}", self._names.get(option, option), "value")


@dataclass(frozen=True)
class TableMode:
    """The mode of a table.

    Attributes:
        key: as written; None: not set.
    """

    mode: Mode
    key: tuple[str, ...] | None

    @classmethod
    def of(cls, label: str, options: Mapping[str, str]) -> TableMode:
        """The mode in the options of a sink.

        Args:
            label: of the query or side output, for messages.

        Raises:
            OptionError: a value is wrong.
        """
        given = GivenOptions(label, options)
        mode = given.get("mode", "append").lower()
        if mode not in get_args(Mode):
            raise given.wrong("mode", f"mode = '{mode}': {did_you_mean(mode, get_args(Mode))}")
        if "key" not in given:
            return cls(cast(Mode, mode), None)
        if mode != "upsert":
            raise given.wrong("key", "a key is for mode = 'upsert' only")
        key = tuple(name.strip() for name in given["key"].split(","))
        if not all(key):
            raise given.wrong("key", f"key = '{given['key']}' is not a list of columns")
        return cls("upsert", key)

    def key_for(self, target: Target) -> tuple[str, ...]:
        """The columns of a target that identify a row of the answer; () for other modes, and where
        there is one row.

        Raises:
            DataError: the mode does not fit a side output.
        """
        if target.kind != "changes" and self.mode != "append":
            raise DataError(f"'{target.label}': rows of side outputs are appended only")
        if self.mode != "upsert":
            return ()
        return target.replace_key or resolved(target.label, self.key or (), target.schema.names)

    def columns(self, rows: pa.Schema, *, shared: bool) -> pa.Schema:
        """The columns of the table.

        Args:
            rows: of the target. shared: whether rows name their query.
        """
        fields = list(rows)[CHANGE_COLUMNS:] if self.mode == "upsert" else list(rows)
        place = PLACE if self.mode == "changelog" else ()
        query = [pa.field(QUERY_COLUMN, pa.string())] if shared else []
        return pa.schema([*place, *query, *fields])

    def placed(self, batch_id: int, rows: pa.Table) -> pa.Table:
        """The rows of a batch as they are appended."""
        if self.mode != "changelog":
            return rows
        n = rows.num_rows
        rows = rows.add_column(0, PLACE[1], numbers(batch_id, n))
        return rows.add_column(0, PLACE[0], pa.repeat(pa.scalar(batch_id, pa.int64()), n))


def check_mode(query: Query, mode: TableMode) -> None:
    """Check that a table can have what its mode promises.

    Raises:
        OptionError: it cannot.
    """
    if mode.mode != "append" and has_seq(query.options):
        why = "has the column _seq anyway" if mode.mode == "changelog" else "has no changes"
        raise wrong_option(
            query, SEQ, f"seq: a table with mode = '{mode.mode}' {why}: leave it out"
        )
    is_complete = query.emit.mode == "changes"
    if mode.mode == "changelog" and not is_complete:
        raise wrong_option(
            query,
            "mode",
            "mode = 'changelog' needs EMIT CHANGES: otherwise there is no '-' for results that "
            "expire or are replaced",
        )
    columns = query.schema.names
    if mode.mode == "changelog":
        own = [field.name for field in PLACE]
        if taken := next((name for name in columns if name.lower() in own), None):
            message = f"the table has a column '{taken}' of its own: rename that of the query by AS"
            raise wrong_option(query, "mode", message)
    if mode.mode != "upsert":
        return
    key = None if mode.key is None else resolved(query.name, mode.key, columns)
    replaces = query.replace_key
    if replaces is not None:
        if key is not None and set(key) != set(replaces):
            raise wrong_option(
                query,
                "key",
                f"rows of the query replace each other by ({', '.join(replaces)}): leave out key, "
                "or write EMIT CHANGES",
            )
        return
    if not is_complete:
        raise wrong_option(
            query,
            "mode",
            "mode = 'upsert' needs EMIT CHANGES, or GROUP BY columns that are selected: results "
            "of this query expire without a row that says so",
        )
    nested = next((f for f in query.schema if pa.types.is_nested(f.type)), None)
    if nested is not None:
        raise wrong_option(
            query,
            "mode",
            f"mode = 'upsert' with EMIT CHANGES takes no {sql_type(nested.type)}, the type of "
            f"'{nested.name}': select its parts, as in a.b, a[0] or UNNEST(a)",
        )
    if key is None:
        raise wrong_option(
            query,
            "mode",
            "mode = 'upsert' needs the option key: columns of which no two rows of the answer "
            f"have the same values; valid: {', '.join(columns)}",
        )


def resolved(label: str, key: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that the option ``key`` names, without case.

    Raises:
        OptionError: there is no such column.
    """
    names = {name.lower(): name for name in columns}
    for column in key:
        if column.lower() not in names:
            message = f"key: the query has no column '{column}'; {did_you_mean(column, columns)}"
            raise OptionError(f"'{label}': {message}", "key", "value")
    return tuple(dict.fromkeys(names[column.lower()] for column in key))


def wrong_option(query: Query, option: str, message: str) -> OptionError:
    """An option that does not fit a query; the error is at the sink if the option is not set."""
    names = {name.lower(): name for name in query.options}
    return OptionError(f"'{query.name}': {message}", names.get(option, "sink"), "value")
