"""Eddyline on Spark: ``Session`` collects streams, tables and queries, and starts one job."""

from eddyline.extras import extras_named

with extras_named():
    from eddyline.spark.progress_tracker import JobProgress
    from eddyline.spark.rescaling import Rescaled, rescale
    from eddyline.spark.run import Run
    from eddyline.spark.session import Session
    from eddyline.spark.supervisor import NEVER, ON_FAILURE, Restart

__all__ = [
    "NEVER",
    "ON_FAILURE",
    "JobProgress",
    "Rescaled",
    "Restart",
    "Run",
    "Session",
    "rescale",
]
