"""Which objects a worker's garbage collection scans, and when."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from eddyline.spark.gc_control import freeze_live_objects, unfreeze_objects


class Cycle:
    """Only a search for cycles frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    unfreeze_objects()
    yield
    unfreeze_objects()


def test_long_lived_objects_are_not_scanned() -> None:
    stays = Cycle()
    was_there = weakref.ref(stays)
    freeze_live_objects()
    new = weakref.ref(Cycle())
    del stays
    gc.collect()
    assert new() is None
    assert was_there() is not None


def test_a_later_task_freezes_no_more_objects() -> None:
    freeze_live_objects()
    count = gc.get_freeze_count()
    made = Cycle()
    freeze_live_objects()
    assert gc.get_freeze_count() <= count
    gone = weakref.ref(made)
    del made
    gc.collect()
    assert gone() is None


def test_after_a_change_all_objects_are_scanned() -> None:
    freeze_live_objects()
    freeze_live_objects()
    old = Cycle()
    gone = weakref.ref(old)
    unfreeze_objects()
    freeze_live_objects()
    del old
    gc.collect()
    assert gone() is not None
    unfreeze_objects()
    gc.collect()
    assert gone() is None
