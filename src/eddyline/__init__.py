"""Eddyline: thousands of standing SQL queries with sliding windows over live streams, one job."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eddyline.errors import (
    CatalogError,
    DataError,
    EddylineError,
    SetupError,
    SqlError,
    StateError,
    UnsupportedError,
)
from eddyline.version import VERSION

if TYPE_CHECKING:
    from eddyline.engine.changes import Changes
    from eddyline.engine.engine import Engine
    from eddyline.engine.listeners import Change
    from eddyline.engine.options import EngineOptions, StrategyOptions
    from eddyline.engine.query import Query

__version__ = VERSION

__all__ = [
    "CatalogError",
    "Change",
    "Changes",
    "DataError",
    "EddylineError",
    "Engine",
    "EngineOptions",
    "Query",
    "SetupError",
    "SqlError",
    "StateError",
    "StrategyOptions",
    "UnsupportedError",
    "__version__",
]

_ON_DEMAND = {
    "Change": "eddyline.engine.listeners",
    "Changes": "eddyline.engine.changes",
    "Engine": "eddyline.engine.engine",
    "EngineOptions": "eddyline.engine.options",
    "Query": "eddyline.engine.query",
    "StrategyOptions": "eddyline.engine.options",
}


def __getattr__(name: str) -> Any:
    """Import the engine when it is first used: Spark's ingest workers never do."""
    if name not in _ON_DEMAND:
        raise AttributeError(f"module 'eddyline' has no attribute {name!r}")
    return getattr(import_module(_ON_DEMAND[name]), name)


def __dir__() -> list[str]:
    """The public names, also those that are not imported yet."""
    return sorted(__all__)
