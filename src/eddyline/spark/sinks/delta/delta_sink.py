"""The sink ``delta``; its package is imported when a job has such a sink."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from eddyline.engine.query import Query
from eddyline.extras import extras_named
from eddyline.spark.sinks.lake_sink import TableOwners, check_types, note_owner
from eddyline.spark.sinks.sink_bases import Target
from eddyline.spark.sinks.table_modes import TableMode, check_mode, wrong_option
from eddyline.spark.sinks.table_sink import TableSink
from eddyline.spark.storage.directory import local_path

#: Characters that names of columns of a Delta table cannot have.
_FORBIDDEN: Final = re.compile(r"[ ,;{}()\n\t=]")


def delta_sink(
    target: Target, options: Mapping[str, str], job: str, owners: TableOwners
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
    note_owner(owners, target, ("delta", uri), uri, "path")
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
    check_types(query, "Delta")
    for name in query.change_schema.names:
        if not name or _FORBIDDEN.search(name):
            message = f"no column of a Delta table can have the name '{name}': use AS"
            raise wrong_option(query, "sink", message)


def _uri(path: str) -> str:
    if "://" in path and not path.startswith("file:"):
        return path
    return str(local_path(path).absolute())
