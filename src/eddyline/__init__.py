"""Eddyline: thousands of standing SQL queries with sliding windows over live streams, one job."""

from eddyline.errors import (
    CatalogError,
    DataError,
    EddylineError,
    SetupError,
    SqlError,
    StateError,
    UnsupportedError,
)
from eddyline.session.changes import Changes
from eddyline.session.engine import Engine
from eddyline.session.query import Query

__version__ = "0.1.0"

__all__ = [
    "CatalogError",
    "Changes",
    "DataError",
    "EddylineError",
    "Engine",
    "Query",
    "SetupError",
    "SqlError",
    "StateError",
    "UnsupportedError",
    "__version__",
]
