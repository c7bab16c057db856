"""Eddyline on Spark: ``Session`` collects streams, tables and queries, and starts one job."""

from eddyline.spark.run import Progress, Run
from eddyline.spark.session import Session

__all__ = ["Progress", "Run", "Session"]
