"""A catalog of Iceberg tables in a directory, by SQLite, and queries of an engine with tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from lake_tables import LakeTables

if TYPE_CHECKING:
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.table import Table


def catalog_options(place: Path) -> dict[str, str]:
    """The options of a sink for the catalog."""
    return {
        "catalog": "sql",
        "catalog_uri": f"sqlite:///{place}/catalog.db",
        "warehouse": str(place / "tables"),
    }


def catalog_of(place: Path) -> SqlCatalog:
    """The catalog, as another program opens it."""
    from pyiceberg.catalog.sql import SqlCatalog

    uri, warehouse = f"sqlite:///{place}/catalog.db", (place / "tables").as_uri()
    return SqlCatalog("default", uri=uri, warehouse=warehouse)


def iceberg_table(place: Path, name: str) -> Table:
    """The table ``lake.NAME``."""
    return catalog_of(place).load_table(("lake", name))


class IcebergTables(LakeTables):
    """Iceberg tables of a catalog in a directory."""

    def __init__(
        self,
        place: Path,
        queries: Mapping[str, tuple[str, str]],
        job: str = "job",
        *,
        again: bool = False,
    ) -> None:
        self.place = place
        sinks = {
            name: (select, self.sink(None if "table =" in options else name) + options)
            for name, (select, options) in queries.items()
        }
        super().__init__(sinks, job, again=again)

    def sink(self, table: str | None) -> str:
        options = {"sink": "iceberg", **catalog_options(self.place)}
        if table is not None:
            options["table"] = f"lake.{table}"
        return ", ".join(f"{name} = '{value}'" for name, value in options.items())

    def table(self, name: str) -> pa.Table:
        return iceberg_table(self.place, name).scan().to_arrow()
