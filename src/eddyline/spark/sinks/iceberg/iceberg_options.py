"""Options of the sink ``iceberg``, checked without the catalog and without its package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from eddyline.engine.query import Query
from eddyline.errors import did_you_mean
from eddyline.spark.sinks.lake_sink import check_types
from eddyline.spark.sinks.table_modes import GivenOptions, TableMode, check_mode, wrong_option
from eddyline.spark.storage.directory import local_path

#: Types of catalogs, with what the URI of one begins with.
_CATALOGS: Final[Mapping[str, tuple[str, ...]]] = {
    "sql": ("sqlite", "postgresql", "mysql"),
    "rest": ("http://", "https://"),
    "hive": ("thrift://",),
    "glue": (),
    "dynamodb": (),
    "bigquery": (),
}
#: Those that are found by their URI.
_WITH_URI: Final = ("sql", "rest", "hive")
#: Options of the catalog, by the names of its library. Those with a dot have its names.
_PROPERTIES: Final[Mapping[str, str]] = {
    "catalog": "type",
    "catalog_uri": "uri",
    "warehouse": "warehouse",
    "credential": "credential",
    "token": "token",
    "scope": "scope",
}
#: A table is in a namespace of one level or more.
_LEAST_PARTS: Final = 2


@dataclass(frozen=True)
class IcebergOptions:
    """The options of one sink.

    Attributes:
        catalog: its name. properties: of the catalog, for its library; a configuration of the
            library by the catalog's name adds to them.
        table: its namespaces and its name.
    """

    catalog: str
    properties: Mapping[str, str]
    table: tuple[str, ...]
    contents: TableMode

    @classmethod
    def of(cls, label: str, options: Mapping[str, str]) -> IcebergOptions:
        """The valid options of a sink.

        Args:
            label: of the query or side output, for messages.

        Raises:
            OptionError: a value is wrong.
        """
        given = GivenOptions(label, options)
        table = tuple(given["table"].split("."))
        if len(table) < _LEAST_PARTS or not all(part.strip() == part != "" for part in table):
            raise given.wrong(
                "table", f"table = '{given['table']}' is not of the form namespace.name"
            )
        kind = given.get("catalog", "").lower() or _kind(given.get("catalog_uri", ""))
        if kind and kind not in _CATALOGS:
            raise given.wrong("catalog", f"catalog = '{kind}': {did_you_mean(kind, _CATALOGS)}")
        uri, starts = given.get("catalog_uri"), _CATALOGS.get(kind, ())
        if uri is None and kind in _WITH_URI and "catalog_name" not in given:
            raise given.wrong("catalog", f"catalog = '{kind}' needs the option 'catalog_uri'")
        if uri is not None and ("://" not in uri or not uri.startswith(starts or ("",))):
            wanted = " or ".join(starts) or "SCHEME://"
            raise given.wrong("catalog_uri", f"catalog_uri does not begin with {wanted}")
        properties = {own: given[name] for name, own in _PROPERTIES.items() if name in given}
        if kind:
            properties["type"] = kind
        if kind == "sql" and "warehouse" in given:
            properties["warehouse"] = _location(given["warehouse"])
        properties |= {name: value for name, value in options.items() if "." in name}
        name = given.get("catalog_name", "default")
        return cls(name, properties, table, TableMode.of(label, options))

    @property
    def name(self) -> str:
        """The table's, with its namespaces."""
        return ".".join(self.table)

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for sinks that can use one catalog."""
        return self.catalog, tuple(sorted(self.properties.items()))

    @property
    def place(self) -> tuple[object, ...]:
        """Equal for sinks with one table."""
        return self.catalog, self.properties.get("uri"), self.table


def check_iceberg(label: str, options: Mapping[str, str]) -> None:
    """Check the values of options; see :meth:`IcebergOptions.of`."""
    IcebergOptions.of(label, options)


def check_iceberg_query(query: Query) -> None:
    """Check that a table can have what the mode of a query's sink promises.

    Raises:
        OptionError: it cannot; or a name is no name of a column of an Iceberg table.
    """
    check_mode(query, TableMode.of(query.name, query.options))
    check_types(query, "Iceberg")
    names = query.change_schema.names
    for i, name in enumerate(names):
        if not name or "." in name:
            message = f"no column of an Iceberg table can have the name '{name}': use AS"
            raise wrong_option(query, "sink", message)
        if name in names[:i]:
            raise wrong_option(query, "sink", f"two columns have the name '{name}': use AS")


def _kind(uri: str) -> str:
    return next(
        (kind for kind, starts in _CATALOGS.items() if starts and uri.startswith(starts)), ""
    )


def _location(warehouse: str) -> str:
    """A directory of this machine as a URI, which is the same in other processes."""
    if "://" in warehouse:
        return warehouse
    return local_path(warehouse).absolute().as_uri()
