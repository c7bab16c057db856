"""Optional dependencies: which extra of the package installs a missing module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from eddyline.errors import SetupError

#: The extra of each module that ``pip install eddyline`` does not install.
_EXTRAS: Final = {
    "pyspark": "spark",
    "google": "spark",
    "pandas": "spark",
    "prometheus_client": "http",
    "psycopg": "postgres",
    "deltalake": "delta",
    "pyiceberg": "iceberg",
    "sqlalchemy": "iceberg",
    "ptars": "protobuf",
    "duckdb": "bench",
    "matplotlib": "figures",
    "railroad": "docs",
}
#: What the wheel leaves out.
_SOURCE_ONLY: Final = ("eddyline.bench", "eddyline.testing")


@contextmanager
def extras_named() -> Iterator[None]:
    """Name the extra of a module that is missing in the block.

    Raises:
        SetupError: an optional module is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as e:
        name = e.name or ""
        if name.startswith(_SOURCE_ONLY):
            raise SetupError(
                f"{name} is not installed: measurements run in a checkout of the project's source"
            ) from None
        extra = _EXTRAS.get(name.partition(".")[0])
        if extra is None:
            raise
        raise SetupError(
            f"the package {name} is not installed: pip install 'eddyline[{extra}]'"
        ) from None
