"""The sink ``iceberg``; its package is imported when a job has such a sink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from eddyline.extras import extras_named
from eddyline.spark.sinks.iceberg.iceberg_options import IcebergOptions
from eddyline.spark.sinks.lake_sink import TableOwners, note_owner
from eddyline.spark.sinks.sink_bases import Target
from eddyline.spark.sinks.table_sink import TableSink

if TYPE_CHECKING:
    from eddyline.spark.sinks.iceberg.iceberg_catalog import IcebergCatalog

#: Catalogs of a job, by their options.
Catalogs = dict[tuple[object, ...], "IcebergCatalog"]


def iceberg_sink(
    target: Target, options: Mapping[str, str], job: str, owners: TableOwners, catalogs: Catalogs
) -> TableSink:
    """The sink of a target.

    Args:
        job: identifies the job.

    Raises:
        DataError: the mode does not fit a side output, or another sink has the table.
    """
    with extras_named():
        from eddyline.spark.sinks.iceberg.iceberg_catalog import IcebergCatalog
        from eddyline.spark.sinks.iceberg.iceberg_table import IcebergSinkTable

    own = IcebergOptions.of(target.label, options)
    key = own.contents.key_for(target)
    note_owner(owners, target, ("iceberg", *own.place), own.name, "table")
    catalog = catalogs.setdefault(own.identity, IcebergCatalog(own))
    replaces = target.replace_key is not None
    return TableSink(
        target,
        IcebergSinkTable(target.label, catalog, own, target.columns, key, job, replaces=replaces),
    )
