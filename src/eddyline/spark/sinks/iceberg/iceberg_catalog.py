"""A catalog of Iceberg tables that all sinks of a job with the same options use."""

from __future__ import annotations

import threading
from typing import Final

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import NoSuchPropertyException, NotInstalledError
from sqlalchemy.exc import ArgumentError

from eddyline.errors import DataError
from eddyline.spark.sinks.iceberg.iceberg_options import IcebergOptions

#: Packages whose errors are those of a catalog or of the store of files.
_OUTSIDE: Final = (
    *("pyiceberg", "sqlalchemy", "requests", "urllib3", "botocore", "aiobotocore", "s3fs"),
    *("gcsfs", "adlfs", "azure", "google", "thrift", "hive_metastore"),
)


class IcebergCatalog:
    """A catalog; opened when it is used.

    Args:
        options: of a sink that uses it.
    """

    def __init__(self, options: IcebergOptions) -> None:
        self._options = options
        self._catalog: Catalog | None = None
        self._lock = threading.Lock()

    def opened(self) -> Catalog:
        """The catalog.

        Raises:
            DataError: its options are wrong, or a package is missing.
        """
        with self._lock:
            if self._catalog is None:
                own = self._options
                try:
                    self._catalog = load_catalog(own.catalog, **own.properties)
                except (NotInstalledError, NoSuchPropertyException, ArgumentError, ValueError) as e:
                    raise DataError(f"catalog '{own.catalog}': {e}") from e
            return self._catalog

    def close(self) -> None:
        """Close connections, until the catalog is used again."""
        with self._lock:
            if self._catalog is not None:
                self._catalog.close()
                self._catalog = None


def outside_failure(error: Exception) -> str | None:
    """What an error of a catalog or of a store of files says; None of another error."""
    if not isinstance(error, OSError) and type(error).__module__.split(".")[0] not in _OUTSIDE:
        return None
    text = str(getattr(error, "orig", None) or error)  # without the statement of SQL
    return " ".join(text.split()) or type(error).__name__
