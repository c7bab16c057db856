"""Which rows the shards are about to drop, told to ingest, which then need not send them.

Shards decide after each batch which share of each stream's rows to keep in the next one, by what
they have measured, and drop the other rows themselves. Ingest drops them before they are shuffled,
if it knows the decisions. It does whenever the batch before was delivered by the same run: the
driver puts them into a property of the thread that runs the batches, which Spark hands to their
tasks. Otherwise, in the first batch of a run, it sends everything. Which rows are kept does not
depend on it: boxes go by what a row holds (:mod:`eddyline.engine.overload.drop_box`), so what
ingest keeps of a share the shard keeps, and what both drop is the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pyspark import SparkContext, TaskContext

_PROPERTY: Final = "eddyline.keep"


def publish_keep_rates(context: SparkContext, reports: Iterable[Mapping[str, Any]]) -> None:
    """Tell the batches to come what the shards have reported; in the thread that starts them.

    Args:
        reports: of shards that the batch had rows for; others have decided nothing new.
    """
    known = context.getLocalProperty(_PROPERTY)
    shares: dict[str, dict[str, float]] = json.loads(known) if known else {}
    shares |= {str(report["shard"]): report["keep"] for report in reports}
    context.setLocalProperty(_PROPERTY, json.dumps(shares))


def clear_keep_rates(context: SparkContext) -> None:
    """Let a run that is started next from this thread begin without decisions."""
    context.setLocalProperty(_PROPERTY, None)  # type: ignore[arg-type]  # removes it


def keep_rate(shard: int, stream: str) -> float:
    """In a task: the share of a stream's rows that its shard is going to keep; 1 if not known."""
    context = TaskContext.get()
    known = None if context is None else context.getLocalProperty(_PROPERTY)
    shares: dict[str, dict[str, float]] = json.loads(known) if known else {}
    return shares.get(str(shard), {}).get(stream, 1.0)
