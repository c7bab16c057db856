"""The sink ``delta``; its package is imported when a job has such a sink."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from eddyline.engine.query import Query
from eddyline.errors import DataError
from eddyline.extras import extras_named
from eddyline.spark.sinks.sink_bases import Target
from eddyline.spark.sinks.table_modes import TableMode, check_mode, wrong_option
from eddyline.spark.sinks.table_sink import TableSink
from eddyline.spark.storage.directory import local_path
from eddyline.types import sql_type

#: Characters that names of columns of a Delta table cannot have.
_FORBIDDEN: Final = re.compile(r"[ ,;{}()\n\t=]")

#: By the place of a Delta table, the query or side output of a job that owns it.
DeltaOwners = dict[str, str]


def delta_sink(
    target: Target, options: Mapping[str, str], job: str, owners: DeltaOwners
) -> TableSink:
    """The sink of a target.

    Args:
        job: identifies the job.

    Raises:
        DataError: the mode does not fit a side output, or another sink has the table.
    """
    with extras_named():
        from eddyline.spark.sinks.delta.delta_table import DeltaSinkTable

    contents, uri = TableMode.of(target.label, options), _uri(options["path"])
    key = contents.key_for(target)
    owner = owners.setdefault(uri, target.label)
    if owner != target.label:
        raise DataError(
            f"'{target.label}': the table '{uri}' belongs to '{owner}', whose sink has other "
            "options or columns; choose another path"
        )
    replaces = target.replace_key is not None
    return TableSink(
        target,
        DeltaSinkTable(target.label, uri, contents, target.columns, key, job, replaces=replaces),
    )


def check_delta(label: str, options: Mapping[str, str]) -> None:
    """Check the values of options; see :meth:`TableMode.of`."""
    TableMode.of(label, options)


def check_delta_query(query: Query) -> None:
    """Check that a table can have what the mode of a query's sink promises.

    Raises:
        OptionError: it cannot; or a name is no name of a column of a Delta table.
    """
    check_mode(query, TableMode.of(query.name, query.options))
    for field in query.schema:
        if _has_interval(field.type):
            message = f"Delta has no type for {sql_type(field.type)}, the type of '{field.name}'"
            raise wrong_option(query, "sink", message)
    for name in query.change_schema.names:
        if not name or _FORBIDDEN.search(name):
            message = f"no column of a Delta table can have the name '{name}': use AS"
            raise wrong_option(query, "sink", message)


def _has_interval(type_: pa.DataType) -> bool:
    if not pa.types.is_nested(type_):
        return bool(pa.types.is_duration(type_) or pa.types.is_interval(type_))
    return any(_has_interval(type_.field(i).type) for i in range(type_.num_fields))


def _uri(path: str) -> str:
    if "://" in path and not path.startswith("file:"):
        return path
    return str(local_path(path).absolute())
