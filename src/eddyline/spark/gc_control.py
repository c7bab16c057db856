"""When Python looks for garbage, where there are thousands of queries.

After every task of a worker PySpark has Python look for cycles among all objects. An engine with
thousands of queries is millions of them, which stay: looking would take longer than most batches.
So what is there when a task starts, right behind such a search, is exempted from later ones.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_exempted = False


def freeze_live_objects() -> None:
    """A task starts: what is there has just been looked at."""
    global _exempted
    if not _exempted:
        gc.freeze()
        _exempted = True


@contextmanager
def gc_paused() -> Iterator[None]:
    """Much is made in the block that stays: looking for garbage can wait until it is there."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def unfreeze_objects() -> None:
    """What stays has changed: the search after this task, and only that, looks at everything."""
    global _exempted
    gc.unfreeze()
    _exempted = False
