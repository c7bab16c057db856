"""Whether a page shows the plan of the job: only then do its shards report it.

The driver sets it as a local property of the thread that runs the batches, which Spark passes to
their tasks.
"""

from __future__ import annotations

from typing import Final

from pyspark import SparkContext, TaskContext

_PROPERTY: Final = "eddyline.watched"


def publish_watched(context: SparkContext, watched: bool) -> None:
    """Tell the tasks of the next batch; called in the thread that runs the batches."""
    context.setLocalProperty(_PROPERTY, "true" if watched else "")


def is_watched() -> bool:
    """In a task: whether a page shows the plan."""
    context = TaskContext.get()
    return context is not None and context.getLocalProperty(_PROPERTY) == "true"
