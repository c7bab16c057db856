"""Broadcast of keep rates: ingest drops rows that the shards have decided to drop.

After each batch a shard decides from its measurements the keep rate of each stream for the next
batch. Ingest can drop these rows before they are shuffled if it knows the rates: the driver sets
them as a local property of the thread that runs the batches, and Spark passes it to their tasks. In
the first batch of a run they are unknown: ingest sends all rows and the shard drops them. The kept
rows are the same in both cases, because a drop box decides by the content of a row
(:mod:`eddyline.engine.overload.drop_box`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pyspark import SparkContext, TaskContext

_PROPERTY: Final = "eddyline.keep"


def publish_keep_rates(context: SparkContext, reports: Iterable[Mapping[str, Any]]) -> None:
    """Publish the keep rates of the shards' reports; called in the thread that runs the batches.

    Args:
        reports: of the shards with rows in the batch; the rates of the others are unchanged.
    """
    known = context.getLocalProperty(_PROPERTY)
    rates: dict[str, dict[str, float]] = json.loads(known) if known else {}
    rates |= {str(report["shard"]): report["keep"] for report in reports}
    context.setLocalProperty(_PROPERTY, json.dumps(rates))


def clear_keep_rates(context: SparkContext) -> None:
    """Remove the rates, before a run is started from this thread."""
    context.setLocalProperty(_PROPERTY, None)  # type: ignore[arg-type]  # removes it


def keep_rate(shards: Iterable[int], stream: str) -> float:
    """In a task: the largest keep rate of a stream in these shards; 1 if one is unknown.

    A shard with a smaller rate drops more rows itself.
    """
    context = TaskContext.get()
    known = None if context is None else context.getLocalProperty(_PROPERTY)
    rates: dict[str, dict[str, float]] = json.loads(known) if known else {}
    return max(rates.get(str(shard), {}).get(stream, 1.0) for shard in shards)
