"""Garbage collection in processes with thousands of queries.

PySpark runs Python's garbage collector after every task of a worker. An engine with thousands of
queries consists of millions of long-lived objects; scanning them would take longer than most
batches. So the objects that exist when a task starts, after such a collection, are excluded from
later ones.
"""

from __future__ import annotations

import gc

_exempted = False


def freeze_live_objects() -> None:
    """Called at the start of a task: exclude the existing objects from garbage collection."""
    global _exempted
    if not _exempted:
        gc.freeze()
        _exempted = True


def unfreeze_objects() -> None:
    """After a change of long-lived objects: let the collection after this task scan all objects."""
    global _exempted
    gc.unfreeze()
    _exempted = False
