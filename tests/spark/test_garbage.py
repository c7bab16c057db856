"""What a worker's garbage collection looks at, and when."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from eddyline.spark.garbage import exempt_what_stays, look_again


class Cycle:
    """Only a search for cycles frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    look_again()
    yield
    look_again()


def test_what_stays_is_not_looked_at() -> None:
    stays = Cycle()
    was_there = weakref.ref(stays)
    exempt_what_stays()
    new = weakref.ref(Cycle())
    del stays
    gc.collect()
    assert new() is None
    assert was_there() is not None


def test_a_later_task_exempts_nothing_more() -> None:
    exempt_what_stays()
    count = gc.get_freeze_count()
    made = Cycle()
    exempt_what_stays()
    assert gc.get_freeze_count() <= count
    gone = weakref.ref(made)
    del made
    gc.collect()
    assert gone() is None


def test_a_change_lets_the_next_search_look_at_everything() -> None:
    exempt_what_stays()
    exempt_what_stays()
    old = Cycle()
    gone = weakref.ref(old)
    look_again()
    exempt_what_stays()
    del old
    gc.collect()
    assert gone() is not None
    look_again()
    gc.collect()
    assert gone() is None
