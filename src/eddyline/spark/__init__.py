"""Eddyline on Spark: ``Session`` collects streams, tables and queries, and starts one job."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from eddyline.extras import extras_named

if TYPE_CHECKING:
    from eddyline.spark.operation.progress import BatchProgress, JobProgress
    from eddyline.spark.operation.supervisor import NEVER, ON_FAILURE, Restart
    from eddyline.spark.rescaling import Rescaled, rescale
    from eddyline.spark.run import Run
    from eddyline.spark.session import Session

__all__ = [
    "NEVER",
    "ON_FAILURE",
    "BatchProgress",
    "JobProgress",
    "Rescaled",
    "Restart",
    "Run",
    "Session",
    "rescale",
]

_ON_DEMAND: Final = {
    "BatchProgress": "eddyline.spark.operation.progress",
    "JobProgress": "eddyline.spark.operation.progress",
    "NEVER": "eddyline.spark.operation.supervisor",
    "ON_FAILURE": "eddyline.spark.operation.supervisor",
    "Rescaled": "eddyline.spark.rescaling",
    "Restart": "eddyline.spark.operation.supervisor",
    "Run": "eddyline.spark.run",
    "Session": "eddyline.spark.session",
    "rescale": "eddyline.spark.rescaling",
}


def __getattr__(name: str) -> Any:
    """Import what is used: Spark can start before the rest of the driver is imported."""
    if name not in _ON_DEMAND:
        raise AttributeError(f"module 'eddyline.spark' has no attribute {name!r}")
    with extras_named():
        return getattr(import_module(_ON_DEMAND[name]), name)
